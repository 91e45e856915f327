import type { Asked, Seen } from './kind';

/**
 * The gate of several counters, which admits when all do: those that refuse, when one does; undefined when none does. What
 * cannot be seen refuses nothing.
 */
export function all(
  run: readonly Asked[],
  seen: readonly (Seen | undefined)[],
): readonly boolean[] | undefined {
  const refusals = run.map((asked, at) => {
    const one = seen[at];
    return one !== undefined && asked.gate.kind.refuses(asked, one);
  });
  const isAnyRefused = refusals.some((isRefused, at) => isRefused && run[at]?.holdsBack !== false);
  return isAnyRefused ? refusals : undefined;
}
