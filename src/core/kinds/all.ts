import type { Operation, Reading } from './kind';

/** For counters that must all admit: which of them refuse; undefined when none does. A counter without a reading refuses nothing. */
export function all(
  run: readonly Operation[],
  reading: readonly (Reading | undefined)[],
): readonly boolean[] | undefined {
  const refusals = run.map((operation, at) => {
    const one = reading[at];
    return one !== undefined && operation.limiter.kind.refuses(operation, one);
  });
  const isAnyRefused = refusals.some((isRefused, at) => isRefused && run[at]?.holdsBack !== false);
  return isAnyRefused ? refusals : undefined;
}
