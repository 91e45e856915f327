import { StoreError } from '../core/errors';
import type { CounterBatch, CounterReply, Counters, Statistics } from '../core/ports';
import { NAMES } from './names';

export interface StoreTimeDeps {
  readonly statistics: Pick<Statistics, 'time'>;
  readonly monotonicMs: () => number;
}

/** The same counters, with a timer for the store of this name: each batch that it answered, or that timed out, is one observation. */
export function withStoreTime(
  counters: Counters,
  store: string,
  { statistics, monotonicMs }: StoreTimeDeps,
): Counters {
  const name = `${NAMES.store}.${store}.time`;
  return {
    close: () => counters.close(),
    async add(batch: CounterBatch): Promise<CounterReply> {
      const startedMs = monotonicMs();
      try {
        const reply = await counters.add(batch);
        if (gotAnswer(batch, reply)) statistics.time(name, monotonicMs() - startedMs, 1);
        return reply;
      } catch (error) {
        if (gotAnswer(batch, error)) statistics.time(name, monotonicMs() - startedMs, 1);
        throw error;
      }
    },
  };
}

/**
 * Whether the store answered for a batch, or timed out: only that takes time of the store. An open breaker, a store without a
 * connection, leased hits and the local cache reply without it.
 */
export function gotAnswer({ increments }: CounterBatch, reply: unknown): boolean {
  if (reply instanceof Error) return !isAway(reply);
  const { knownOverLimit: known, leased, failures } = reply as CounterReply;
  if (known === undefined && failures === undefined) return true;
  return increments.some(
    (_, i) => known?.[i] !== true && leased?.[i] !== true && !isAway(failures?.get(i)),
  );
}

function isAway(error: Error | undefined): boolean {
  if (!(error instanceof StoreError) || error.code === 'store_timeout') return false;
  return error.fault === 'breaker' || error.fault === 'store' || error.fault === 'node';
}
