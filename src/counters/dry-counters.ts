import type { Algorithm } from '../core/algorithms/algorithm';
import { applyAsks } from '../core/algorithms/apply-asks';
import { stateOfUsed, type CounterState } from '../core/algorithms/counter-state';
import { tickAt } from '../core/algorithms/ticks';
import type {
  CounterBatch,
  CounterReading,
  CounterReply,
  Counters,
  Increment,
} from '../core/ports';
import { decideRuns, isOverAt, type ReadState } from './hold-back';
import type { OverLimitCache } from './over-limit-cache';
import { createReplyDraft, fail, holdBackAt, stand, toReply } from './reply-draft';

/** Counters that answer from what was read before, as a store would, and change nothing; one batch each. */
export function createDryCounters(
  readings: ReadonlyMap<string, CounterReading>,
): Pick<Counters, 'add' | 'close'> {
  return {
    // eslint-disable-next-line @typescript-eslint/require-await -- a throw must become a rejection
    add: async (batch) => apply(batch, readings),
    close: () => Promise.resolve(),
  };
}

function apply(batch: CounterBatch, readings: ReadonlyMap<string, CounterReading>): CounterReply {
  const draft = createReplyDraft(batch.increments.length);
  const counts = new Map<string, number>();
  const states = new Map<string, CounterState>();
  const countOf = ({ key }: Increment): number => counts.get(key) ?? readings.get(key)?.count ?? 0;
  const stateOf = (increment: Increment, algorithm: Algorithm): CounterState =>
    states.get(increment.key) ??
    readings.get(increment.key)?.state ??
    stateOfUsed(algorithm, countOf(increment), tickAt(batch.nowSeconds, algorithm.tickMicros));
  const look = (increment: Increment): CounterState | number =>
    increment.algorithm === undefined
      ? countOf(increment)
      : stateOf(increment, increment.algorithm);
  const add = (index: number, increment: Increment): void => {
    const { algorithm, key, times = 1 } = increment;
    const hits = Number(increment.hits);
    const after = algorithm === undefined ? Math.max(0, countOf(increment) + hits) : 0;
    draft.after[index] = after;
    if (algorithm === undefined) counts.set(key, after);
    else {
      const before = stateOf(increment, algorithm);
      stand(draft, index, before);
      states.set(key, applyAsks(algorithm, before, { hits, times }) ?? before);
    }
    const error = readings.get(key)?.error;
    if (error !== undefined) fail(draft, index, error);
  };
  if (batch.groupEnds === undefined) {
    for (const [index, increment] of batch.increments.entries()) add(index, increment);
  } else {
    decideRuns<ReadState>(batch, {
      look,
      isOver: isOverAt,
      add,
      holdBack(index, seen) {
        holdBackAt(draft, index, seen);
      },
    });
  }
  return toReply(draft);
}

/** A local cache that is looked at only. */
export function readOnly({ knows, list }: OverLimitCache): OverLimitCache {
  const nothing = (): void => undefined;
  return {
    isOver: knows,
    knows,
    list,
    refusing: () => undefined,
    rememberState: nothing,
    remember: nothing,
    forget: nothing,
    forgetKeys: nothing,
    generation: 0,
    close: nothing,
  };
}
