import { type CounterBatch } from '../core/ports';

/**
 * Decides, from the counts that were read, which increments of a batch are held back, run after run.
 * Answers their places with the count that each of them reports.
 */
export function planHoldBack(
  { increments, runEnds = [] }: CounterBatch,
  read: ReadonlyMap<string, number>,
): ReadonlyMap<number, number> {
  const counts = new Map(read);
  const held = new Map<number, number>();
  let start = 0;
  for (const end of runEnds) {
    const run = increments.slice(start, end);
    const seen = run.map(({ key }) => counts.get(key) ?? 0);
    const overs = run.map(({ hits, limit }, at) => (seen[at] ?? 0) + Number(hits) > limit);
    const isAnyOver = overs.includes(true);
    run.forEach(({ key, hits }, at) => {
      if (isAnyOver && overs[at] !== true) held.set(start + at, seen[at] ?? 0);
      else counts.set(key, Math.max(0, (counts.get(key) ?? 0) + Number(hits)));
    });
    start = end;
  }
  return held;
}
