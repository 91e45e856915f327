import { type CounterBatch, type Increment } from '../core/ports';

/** What becomes of the increments of a batch, by their index. `S` is how a store sees a counter before a run. */
export interface RunActions<S> {
  /** The counter of an increment as it stands before its run. */
  readonly look: (increment: Increment) => S;
  readonly isOver: (increment: Increment, seen: S) => boolean;
  readonly add: (index: number, increment: Increment) => void;
  /** The increment is held back; its counter was seen so. */
  readonly holdBack: (index: number, seen: S) => void;
}

/**
 * Decides run after run, in order, so that a run sees what those before it have added: when an increment of a run would
 * go over its limit, all that would not are held back (behaviour.md §3.6).
 */
export function decideRuns<S>(
  { increments, runEnds = [] }: CounterBatch,
  { look, isOver, add, holdBack }: RunActions<S>,
): void {
  let start = 0;
  for (const end of runEnds) {
    const run = increments.slice(start, end);
    const seen = run.map(look);
    const overs = run.map((increment, at) => isOver(increment, seen[at] as S));
    const isAnyOver = overs.includes(true);
    for (const [at, increment] of run.entries()) {
      if (isAnyOver && overs[at] !== true) holdBack(start + at, seen[at] as S);
      else add(start + at, increment);
    }
    start = end;
  }
}

/** Whether hits would take a count over the limit of an increment. */
export function isOverBy({ hits, limit }: Increment, count: number): boolean {
  return count + Number(hits) > limit;
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
    look: countOf,
    isOver: isOverBy,
    add(_, increment) {
      counts.set(increment.key, Math.max(0, countOf(increment) + Number(increment.hits)));
    },
    holdBack: (index, count) => held.set(index, count),
  });
  return held;
}
