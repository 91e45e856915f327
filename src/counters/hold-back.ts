import { type CounterBatch, type Increment } from '../core/ports';

/** What becomes of the increments of a batch, by their index. */
export interface RunActions {
  /** The counter of an increment as it stands before its run. */
  readonly countOf: (increment: Increment) => number;
  readonly add: (index: number, increment: Increment) => void;
  /** The increment is held back while its counter stands at `count`. */
  readonly holdBack: (index: number, count: number) => void;
}

/**
 * Decides run after run, in order, so that a run sees what those before it have added: when an increment of a run would
 * go over its limit, all that would not are held back (behaviour.md §3.6).
 */
export function decideRuns(
  { increments, runEnds = [] }: CounterBatch,
  { countOf, add, holdBack }: RunActions,
): void {
  let start = 0;
  for (const end of runEnds) {
    const run = increments.slice(start, end);
    const counts = run.map(countOf);
    const overs = run.map(({ hits, limit }, at) => (counts[at] ?? 0) + Number(hits) > limit);
    const isAnyOver = overs.includes(true);
    for (const [at, increment] of run.entries()) {
      if (isAnyOver && overs[at] !== true) holdBack(start + at, counts[at] ?? 0);
      else add(start + at, increment);
    }
    start = end;
  }
}

/**
 * Decides, from the counts that were read, which increments of a batch are held back.
 * Answers their indexes with the count that each of them reports.
 */
export function planHoldBack(
  batch: CounterBatch,
  read: ReadonlyMap<string, number>,
): ReadonlyMap<number, number> {
  const counts = new Map(read);
  const held = new Map<number, number>();
  const countOf = ({ key }: Increment): number => counts.get(key) ?? 0;
  decideRuns(batch, {
    countOf,
    add(_, increment) {
      counts.set(increment.key, Math.max(0, countOf(increment) + Number(increment.hits)));
    },
    holdBack: (index, count) => held.set(index, count),
  });
  return held;
}
