import type { MadeUp } from './scenarios';
import { SHARED_MIDDLE_PATTERNS, SHARED_PATTERNS, UNLIMITED_KEY } from './scenarios';

/** What both came to, where it is not the same. */
export interface Difference {
  readonly seed: number;
  readonly what: string;
  readonly reference: unknown;
  readonly ours: unknown;
}

interface Status {
  readonly durationUntilReset?: { readonly seconds?: string } | null;
}

interface Answer {
  readonly statuses?: readonly Status[];
  readonly responseHeadersToAdd?: readonly { readonly key: string; readonly value: string }[];
}

/** The answer without its times, and the times: the two were asked a moment apart. */
export function partsOf(response: object | undefined): {
  readonly fixed: string;
  readonly seconds: readonly number[];
} {
  const { statuses = [], responseHeadersToAdd = [], ...rest } = (response ?? {}) as Answer;
  const isReset = ({ key }: { readonly key: string }) => /reset/i.test(key);
  const seconds = [
    ...statuses.map(({ durationUntilReset }) => Number(durationUntilReset?.seconds ?? -1)),
    ...responseHeadersToAdd.filter(isReset).map(({ value }) => Number(value)),
  ];
  const timeless = statuses.map(({ durationUntilReset, ...status }) => ({
    ...status,
    resets: durationUntilReset !== null && durationUntilReset !== undefined,
  }));
  const headers = responseHeadersToAdd.filter((header) => !isReset(header));
  return { fixed: JSON.stringify({ ...rest, timeless, headers }), seconds };
}

/** Whether two lists of seconds are equal within one. */
export function areNear(one: readonly number[], other: readonly number[]): boolean {
  return (
    one.length === other.length &&
    one.every((value, at) => Math.abs(value - (other[at] ?? Infinity)) <= 1)
  );
}

const SHARED = [...SHARED_PATTERNS, ...SHARED_MIDDLE_PATTERNS];

/**
 * The statistics of a scenario as both count them. On purpose they differ in what docs/replacing-the-reference.md says: unlimited
 * rules, and the pattern of `share_threshold`.
 */
export function comparable(
  counted: Readonly<Record<string, number>>,
  { domain }: MadeUp,
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [name, value] of Object.entries(counted)) {
    const rest = name.slice('ratelimit.service.rate_limit.'.length);
    if (!rest.startsWith(`${domain}.`) && !rest.startsWith(`${domain}-none.`)) continue;
    if (new RegExp(`\\.${UNLIMITED_KEY}(_.*)?\\.[a-z_]+$`).test(rest)) continue;
    const shown = withoutStars(rest);
    sums.set(shown, (sums.get(shown) ?? 0) + value);
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Shared patterns up to their star. */
function withoutStars(name: string): string {
  let shown = name;
  for (const pattern of SHARED)
    shown = shown.replaceAll(`_${pattern}.`, `_${pattern.slice(0, pattern.indexOf('*'))}.`);
  return shown;
}
