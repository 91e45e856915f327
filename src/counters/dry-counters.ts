import type {
  CounterBatch,
  CounterReading,
  CounterReply,
  Counters,
  Increment,
} from '../core/ports';
import { decideRuns } from './hold-back';
import type { OverLimitCache } from './over-limit-cache';
import { createReplyDraft, fail, holdBack, toReply } from './reply-draft';

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
  const countOf = ({ key }: Increment): number => counts.get(key) ?? readings.get(key)?.count ?? 0;
  const add = (index: number, increment: Increment): void => {
    const error = readings.get(increment.key)?.error;
    const after = Math.max(0, countOf(increment) + Number(increment.hits));
    counts.set(increment.key, after);
    draft.after[index] = after;
    if (error !== undefined) fail(draft, index, error);
  };
  if (batch.runEnds === undefined) {
    for (const [index, increment] of batch.increments.entries()) add(index, increment);
  } else {
    decideRuns(batch, {
      countOf,
      add,
      holdBack(index, count) {
        holdBack(draft, index, count);
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
    rememberStanding: nothing,
    remember: nothing,
    forget: nothing,
    forgetKeys: nothing,
    generation: 0,
    close: nothing,
  };
}
