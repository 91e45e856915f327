import { countAdmitted, standingAfterAsks } from '../core/algorithms/apply-asks';
import { outcomeOf } from '../core/algorithms/outcome';
import { type Standing } from '../core/algorithms/standing';
import { type CounterBatch, type Increment } from '../core/ports';

/** What becomes of the increments of a batch, by their index. */
export interface RunActions {
  /** The counter of an increment as it stands before its run. */
  readonly countOf: (increment: Increment) => number;
  /** Whether an increment does not fit; unless given, by its count. */
  readonly isOver?: (increment: Increment, count: number) => boolean;
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
  { countOf, add, holdBack, isOver = isOverByCount }: RunActions,
): void {
  let start = 0;
  for (const end of runEnds) {
    const run = increments.slice(start, end);
    const counts = run.map(countOf);
    const overs = run.map((increment, at) => isOver(increment, counts[at] ?? 0));
    const isAnyOver = overs.includes(true);
    for (const [at, increment] of run.entries()) {
      if (isAnyOver && overs[at] !== true) holdBack(start + at, counts[at] ?? 0);
      else add(start + at, increment);
    }
    start = end;
  }
}

function isOverByCount({ hits, limit }: Increment, count: number): boolean {
  return count + Number(hits) > limit;
}

/** Counters as they were read before a batch, by key. */
export interface ReadCounters {
  readonly counts: ReadonlyMap<string, number>;
  /** Those of increments with an algorithm. */
  readonly standings?: ReadonlyMap<string, Standing>;
}

/** What an increment reports that is held back. */
export interface HeldAt {
  readonly count: number;
  readonly standing: Standing | undefined;
}

/** Decides, from counters that were read, which increments of a batch are held back; by their indexes. */
export function planHoldBack(batch: CounterBatch, read: ReadCounters): ReadonlyMap<number, HeldAt> {
  const counts = new Map(read.counts);
  const standings = new Map(read.standings);
  const held = new Map<number, HeldAt>();
  const countOf = ({ key }: Increment): number => counts.get(key) ?? 0;
  decideRuns(batch, {
    countOf,
    isOver(increment, count) {
      if (increment.algorithm === undefined) return isOverByCount(increment, count);
      const standing = standings.get(increment.key);
      // What cannot be read fails when it is added; it holds back nothing.
      if (standing === undefined) return false;
      const asks = { hits: Number(increment.hits), times: 1 };
      return outcomeOf(increment.algorithm, standing, asks, 1).isOver;
    },
    add(_, increment) {
      const { algorithm, key } = increment;
      const hits = Number(increment.hits);
      const standing = standings.get(key);
      if (algorithm === undefined) counts.set(key, Math.max(0, countOf(increment) + hits));
      else if (standing !== undefined) {
        const admitted = countAdmitted(algorithm, standing, { hits, times: 1 });
        standings.set(key, standingAfterAsks(algorithm, standing, hits, 1, admitted));
      }
    },
    holdBack(index, count) {
      const { algorithm, key } = batch.increments[index] as Increment;
      held.set(index, { count, standing: algorithm && standings.get(key) });
    },
  });
  return held;
}
