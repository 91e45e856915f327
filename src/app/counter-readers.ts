import { isRolling, type Algorithm } from '../core/algorithms/algorithm';
import { StoreError } from '../core/errors';
import type { Clock, CounterPlace, CounterReader, CounterReading } from '../core/ports';
import type { MemcachedCounters } from '../counters/memcached/create-memcached-counters';
import type { MemoryCounters } from '../counters/memory/create-memory-counters';
import { isPerSecond } from '../counters/per-second-split';
import type { RedisCounters } from '../counters/redis/options';
import { unread } from '../counters/unread';
import { lazy } from './lazy';

export function memoryReader(counters: Pick<MemoryCounters, 'read'>, clock: Clock): CounterReader {
  const read = ({ key, rule }: CounterPlace): CounterReading => {
    const entry = counters.read(key, clock(), rule.algorithm);
    const expiresInSeconds = entry && Math.max(0, Math.ceil(entry.ttlSeconds));
    const count = Number(entry?.value ?? 0);
    return { count, state: entry?.state, expiresInSeconds, store: 'memory' };
  };
  return { read: (places) => Promise.resolve(places.map(read)) };
}

/** A counter of an algorithm is not a plain number: it is read by itself. */
async function rolling(
  counters: Pick<RedisCounters, 'ask'>,
  key: string,
  algorithm: Algorithm,
  { store }: CounterReading,
): Promise<CounterReading> {
  try {
    return { ...(await lazy.redis().readRolling(counters, key, algorithm)), store };
  } catch (error) {
    if (error instanceof StoreError) return unread(store, error);
    throw error;
  }
}

export function redisReader(counters: Pick<RedisCounters, 'look' | 'ask'>): CounterReader {
  return {
    async read(places) {
      const looks = await counters.look([...new Set(places.map(({ key }) => key))]);
      return Promise.all(
        places.map(async ({ key, rule }) => {
          const look = looks.get(key) as CounterReading;
          const { algorithm } = rule;
          return isRolling(algorithm) ? rolling(counters, key, algorithm, look) : look;
        }),
      );
    },
  };
}

export function memcachedReader(counters: Pick<MemcachedCounters, 'look'>): CounterReader {
  return { read: (places) => Promise.all(places.map(({ key }) => counters.look(key))) };
}

/** What is limited per second lies in a store of its own. */
export function splitReader(perSecond: CounterReader, others: CounterReader): CounterReader {
  return {
    async read(places) {
      const [seconds, rest] = await Promise.all([
        perSecond.read(places.filter(isPerSecond)),
        others.read(places.filter((place) => !isPerSecond(place))),
      ]);
      const ofSeconds = seconds.values();
      const ofRest = rest.values();
      return places.map((place) => {
        const next = (isPerSecond(place) ? ofSeconds : ofRest).next();
        return next.value as CounterReading;
      });
    },
  };
}
