import { countAdmitted, stateAfterAsks } from '../core/algorithms/apply-asks';
import { outcomeOf } from '../core/algorithms/outcome';
import { type CounterState } from '../core/algorithms/counter-state';
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
  { increments, groupEnds = [] }: CounterBatch,
  { look, isOver, add, holdBack }: RunActions<S>,
): void {
  let start = 0;
  for (const end of groupEnds) {
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

/** A counter as it is seen before a run: its count or, under an algorithm, where it stands; undefined: it cannot be read. */
export type ReadState = CounterState | number | undefined;

/** Whether an increment does not fit. What cannot be read fails when it is added; it holds back nothing. */
export function isOverAt({ algorithm, hits, limit }: Increment, seen: ReadState): boolean {
  if (typeof seen === 'number') return seen + Number(hits) > limit;
  if (seen === undefined || algorithm === undefined) return false;
  return outcomeOf(algorithm, seen, { hits: Number(hits), times: 1 }, 1).isOver;
}

/** Counters as they were read before a batch, by key. */
export interface ReadCounters {
  readonly counts: ReadonlyMap<string, number>;
  /** Those of increments with an algorithm. */
  readonly states?: ReadonlyMap<string, CounterState>;
}

/** Decides, from counters that were read, which increments of a batch are held back; by their indexes, with what was seen. */
export function planHoldBack(
  batch: CounterBatch,
  read: ReadCounters,
): ReadonlyMap<number, ReadState> {
  const counts = new Map(read.counts);
  const states = new Map(read.states);
  const held = new Map<number, ReadState>();
  const countOf = ({ key }: Increment): number => counts.get(key) ?? 0;
  decideRuns<ReadState>(batch, {
    look: (increment) =>
      increment.algorithm === undefined ? countOf(increment) : states.get(increment.key),
    isOver: isOverAt,
    add(_, increment) {
      const { algorithm, key } = increment;
      const hits = Number(increment.hits);
      const state = states.get(key);
      if (algorithm === undefined) counts.set(key, Math.max(0, countOf(increment) + hits));
      else if (state !== undefined) {
        const admitted = countAdmitted(algorithm, state, { hits, times: 1 });
        states.set(key, stateAfterAsks(algorithm, state, hits, 1, admitted));
      }
    },
    holdBack(index, seen) {
      held.set(index, seen);
    },
  });
  return held;
}
