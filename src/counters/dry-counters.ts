import { tickAt } from '../core/kinds/ticks';
import type {
  CounterBatch,
  CounterReading,
  CounterReply,
  Counters,
  Increment,
} from '../core/ports';
import { decideRuns } from './hold-back';
import type { OverLimitCache } from './over-limit-cache';
import { SeenCounters } from './seen-counters';
import { createReplyDraft, fail, holdBackAt, say, toReply } from '../core/batches/reply-draft';

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
  const { increments, nowSeconds } = batch;
  // What stands alone is a run of its own, which holds nothing back.
  const groupEnds = batch.groupEnds ?? increments.map((_, at) => at + 1);
  const draft = createReplyDraft(increments.length);
  const seen = new SeenCounters(({ key, gate }) => {
    const { state, count = 0 } = readings.get(key) ?? {};
    return state ?? gate.kind.ofHits(gate, count, tickAt(nowSeconds, gate.tickMicros));
  });
  const add = (index: number, increment: Increment): void => {
    say(draft, index, seen.add(increment));
    const error = readings.get(increment.key)?.error;
    if (error !== undefined) fail(draft, index, error);
  };
  decideRuns(
    { ...batch, groupEnds },
    {
      look: (increment) => seen.look(increment),
      add,
      holdBack(index, one) {
        holdBackAt(draft, index, one);
      },
      refuse(index, one) {
        say(draft, index, one);
      },
    },
  );
  return toReply(draft);
}

/** A local cache that is looked at only. */
export function readOnly({ knows, list }: OverLimitCache): OverLimitCache {
  const nothing = (): void => undefined;
  return {
    knows,
    list,
    // A state would answer what the store does.
    refusing: (increment, nowSeconds) =>
      !increment.gate.kind.looks && knows(increment, nowSeconds) ? increment.limit : undefined,
    remember: nothing,
    forget: nothing,
    forgetKeys: nothing,
    generation: 0,
    close: nothing,
  };
}
