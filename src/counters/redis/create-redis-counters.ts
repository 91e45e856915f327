import { type Observable } from 'rxjs';
import { type CounterBatch, type CounterReply, type Counters } from '../../core/ports';
import { applyBatch } from './apply-batch';
import { createConnection } from './connection';
import { type Link } from './link';
import { type RedisCountersDeps, type RedisCountersOptions } from './options';
import { toUnavailableError } from './store-errors';

export interface RedisCounters extends Counters {
  /** Whether the store can be used now; distinct. */
  readonly connected$: Observable<boolean>;
  /**
   * Connects, and connects again, while it is subscribed to; subscribe once. Completes after `close`;
   * fails with a StoreError when no first connection comes about within `startupMaxElapsedMs`.
   */
  readonly run$: Observable<never>;
}

/** Increments that may wait for answers; more than a server answers within any sensible time-out. */
const MAX_INCREMENTS_IN_FLIGHT = 65_536;

/** Bytes that may wait for the socket of a server that does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

const EMPTY_REPLY: CounterReply = { after: [], held: undefined, failures: undefined };

/**
 * Counters in one Redis server. Every batch is sent at most once; what was sent and not answered is an
 * error (`store_timeout`, or `store_unavailable` when the connection broke) and may be counted or not.
 * Without a connection `add` fails at once.
 */
export function createRedisCounters(
  deps: RedisCountersDeps,
  options: RedisCountersOptions,
): RedisCounters {
  const connection = createConnection(deps, options);
  const { store } = connection;
  let hasWarned = false;

  const warnOfHoldBack = ({ usesScripts }: Link, { runEnds }: CounterBatch): void => {
    if (usesScripts || runEnds === undefined || hasWarned) return;
    hasWarned = true;
    deps.onEvent?.({ kind: 'hold-back-not-atomic', store });
  };

  return {
    connected$: connection.connected$,
    run$: connection.run$,
    close: () => connection.close(),
    async add(batch) {
      const { link } = connection;
      const weight = batch.increments.length;
      if (link === undefined) throw toUnavailableError(store, connection.reason);
      if (weight === 0) return EMPTY_REPLY;
      if (isFull(link, weight)) throw toUnavailableError(store, 'too much waits for its answer');
      warnOfHoldBack(link, batch);
      const exchange = link.exchanges.begin(weight);
      try {
        return await applyBatch(link, batch);
      } finally {
        link.exchanges.end(exchange);
      }
    },
  };
}

/** One batch is always let in, however large. */
function isFull({ client, exchanges }: Link, weight: number): boolean {
  if (exchanges.size === 0) return false;
  return (
    exchanges.weight + weight > MAX_INCREMENTS_IN_FLIGHT ||
    client.stream.writableLength > MAX_UNSENT_BYTES
  );
}
