/** A release of tzdata, as `2026f`; packagers may add to it. */
const RELEASE = /^\d{4}[a-z]{1,2}/;

/** The release in a text; undefined: there is none. */
export function toRelease(text: string | undefined): string | undefined {
  return text === undefined ? undefined : RELEASE.exec(text)?.[0];
}

/** Newest first; unknown releases come last. */
export function byRelease(
  a: { readonly release: string | undefined },
  b: { readonly release: string | undefined },
): number {
  const [older, newer] = [a.release ?? '', b.release ?? ''];
  return older === newer ? 0 : older < newer ? 1 : -1;
}

const A = 96;

/** For a gauge: 202606 for `2026f`; 0: unknown. */
export function releaseNumber(release: string | undefined): number {
  if (release === undefined) return 0;
  let letters = 0;
  for (let at = 4; at < release.length; at += 1) letters += release.charCodeAt(at) - A;
  return Number(release.slice(0, 4)) * 100 + letters;
}
