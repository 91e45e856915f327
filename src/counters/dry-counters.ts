import { tickAt } from '../core/kinds/ticks';
import type {
  CounterBatch,
  CounterReading,
  CounterReply,
  Counters,
  Increment,
} from '../core/ports';
import { decideRuns, UpdatedReadings } from './hold-back';
import type { OverLimitCache } from './over-limit-cache';
import {
  createReplyDraft,
  fail,
  holdBackAt,
  setReading,
  toReply,
} from '../core/batches/reply-draft';

/** Counters that answer from earlier readings as a store would, and change nothing; each serves one batch. */
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
  const { increments, nowSeconds } = batch;
  // Independent increments are runs of their own, which hold nothing back.
  const groupEnds = batch.groupEnds ?? increments.map((_, at) => at + 1);
  const draft = createReplyDraft(increments.length);
  const counters = new UpdatedReadings(({ key, limiter }) => {
    const { state, count = 0 } = readings.get(key) ?? {};
    return state ?? limiter.kind.ofHits(limiter, count, tickAt(nowSeconds, limiter.tickMicros));
  });
  const add = (index: number, increment: Increment): void => {
    setReading(draft, index, counters.add(increment));
    const error = readings.get(increment.key)?.error;
    if (error !== undefined) fail(draft, index, error);
  };
  decideRuns(
    { ...batch, groupEnds },
    {
      read: (increment) => counters.read(increment),
      add,
      holdBack(index, one) {
        holdBackAt(draft, index, one);
      },
      refuse(index, one) {
        setReading(draft, index, one);
      },
    },
  );
  return toReply(draft);
}

/** A read-only view of a local cache. */
export function readOnly({ knows, list }: OverLimitCache): OverLimitCache {
  const nothing = (): void => undefined;
  return {
    knows,
    list,
    // A state would give the store's own answer.
    refusing: (increment, nowSeconds) =>
      !increment.limiter.kind.readsFirst && knows(increment, nowSeconds)
        ? increment.limit
        : undefined,
    remember: nothing,
    forget: nothing,
    forgetKeys: nothing,
    generation: 0,
    close: nothing,
  };
}
