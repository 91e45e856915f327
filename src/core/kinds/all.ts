import type { Asked, Seen } from './kind';

/** For counters that must all admit: which of them refuse; undefined when none does. A counter without a reading refuses nothing. */
export function all(
  run: readonly Asked[],
  seen: readonly (Seen | undefined)[],
): readonly boolean[] | undefined {
  const refusals = run.map((asked, at) => {
    const one = seen[at];
    return one !== undefined && asked.limiter.kind.refuses(asked, one);
  });
  const isAnyRefused = refusals.some((isRefused, at) => isRefused && run[at]?.holdsBack !== false);
  return isAnyRefused ? refusals : undefined;
}
