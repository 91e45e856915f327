import type * as MemcachedModule from '../../counters/memcached/create-memcached-counters';
import type * as RedisModule from '../../counters/redis/create-redis-counters';
import { settled, StoreError } from '../../core/errors';
import { isBudgetLimiter } from '../../core/budgets/budget';
import { isRecord, unused } from '../../core/kinds/limiter';
import type { CounterState, Limiter } from '../../core/kinds/kind';
import { tickAt } from '../../core/kinds/ticks';
import type {
  Clock,
  CounterPlace,
  CounterReader,
  CounterReading,
  ListOpen,
} from '../../core/ports';
import type { MemcachedCounters } from '../../counters/memcached/create-memcached-counters';
import type { MemoryCounters } from '../../counters/memory/create-memory-counters';
import { isPerSecond } from '../../counters/per-second-split';
import type { RedisCounters } from '../../counters/redis/options';
import { unread } from '../../counters/count';

/** The stores: most services use one of them. */
export const lazy = {
  memcached: () =>
    require('../../counters/memcached/create-memcached-counters') as typeof MemcachedModule,
  redis: () => require('../../counters/redis/create-redis-counters') as typeof RedisModule,
};

export function memoryReader(counters: Pick<MemoryCounters, 'read'>, clock: Clock): CounterReader {
  const read = ({ key, rule }: CounterPlace): CounterReading => {
    const entry = counters.read(key, clock(), rule.limiter);
    const expiresInSeconds = entry && Math.max(0, Math.ceil(entry.ttlSeconds));
    const count = Number(entry?.value ?? 0);
    const { limiter } = rule;
    // A missing counter of a budget has figures too.
    const none = isBudgetLimiter(limiter)
      ? unused(limiter, tickAt(clock(), limiter.tickMicros))
      : undefined;
    const { state = none, firstEndMs } = entry ?? {};
    return { count, state, expiresInSeconds, firstEndMs, store: 'memory' };
  };
  return { read: (places) => Promise.resolve(places.map(read)) };
}

/** A record is read by itself. */
async function readRecordOf(
  counters: Pick<RedisCounters, 'send'>,
  key: string,
  limiter: Limiter<CounterState>,
  { store }: CounterReading,
): Promise<CounterReading> {
  const read = await settled(() => lazy.redis().readOwnForm(counters, key, limiter));
  return read instanceof StoreError ? unread(store, read) : { ...read, store };
}

export function redisReader(counters: Pick<RedisCounters, 'peek' | 'send'>): CounterReader {
  return {
    async read(places) {
      const readings = await counters.peek([...new Set(places.map(({ key }) => key))]);
      return Promise.all(
        places.map(async ({ key, rule }) => {
          const reading = readings.get(key) as CounterReading;
          const { limiter } = rule;
          return isRecord(limiter) ? readRecordOf(counters, key, limiter, reading) : reading;
        }),
      );
    },
  };
}

/** Per-second limits have a store of their own. */
export function splitOpen(perSecond: ListOpen, others: ListOpen): ListOpen {
  return (place, most) => (isPerSecond(place) ? perSecond : others)(place, most);
}

export function memcachedReader(counters: Pick<MemcachedCounters, 'peek'>): CounterReader {
  return { read: (places) => Promise.all(places.map(({ key }) => counters.peek(key))) };
}

/** Asks two stores, each for its own counters; returns all answers in their order. */
export async function callBoth<P extends Pick<CounterPlace, 'rule'>, A>(
  places: readonly P[],
  ask: (own: readonly P[], arePerSecond: boolean) => Promise<readonly A[]>,
): Promise<readonly A[]> {
  const [seconds, rest] = await Promise.all([
    ask(places.filter(isPerSecond), true),
    ask(
      places.filter((place) => !isPerSecond(place)),
      false,
    ),
  ]);
  const [ofSeconds, ofRest] = [seconds.values(), rest.values()];
  return places.map((place) => (isPerSecond(place) ? ofSeconds : ofRest).next().value as A);
}

/** Per-second limits have a store of their own. */
export function splitReader(perSecond: CounterReader, others: CounterReader): CounterReader {
  return {
    read: (places) =>
      callBoth(places, (own, arePerSecond) => (arePerSecond ? perSecond : others).read(own)),
  };
}
