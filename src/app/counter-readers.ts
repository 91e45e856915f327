import type { Clock, CounterPlace, CounterReader, CounterReading } from '../core/ports';
import type { MemcachedCounters } from '../counters/memcached/create-memcached-counters';
import type { MemoryCounters } from '../counters/memory/create-memory-counters';
import type { RedisCounters } from '../counters/redis/options';

export function memoryReader(counters: Pick<MemoryCounters, 'read'>, clock: Clock): CounterReader {
  const read = ({ key }: CounterPlace): CounterReading => {
    const entry = counters.read(key, clock());
    const expiresInSeconds = entry && Math.max(0, Math.ceil(entry.ttlSeconds));
    return { count: Number(entry?.value ?? 0), expiresInSeconds, store: 'memory' };
  };
  return { read: (places) => Promise.resolve(places.map(read)) };
}

export function redisReader(counters: Pick<RedisCounters, 'look'>): CounterReader {
  return {
    async read(places) {
      const looks = await counters.look([...new Set(places.map(({ key }) => key))]);
      return places.map(({ key }) => looks.get(key) as CounterReading);
    },
  };
}

export function memcachedReader(counters: Pick<MemcachedCounters, 'look'>): CounterReader {
  return { read: (places) => Promise.all(places.map(({ key }) => counters.look(key))) };
}

/** What is limited per second lies in a store of its own. */
export function splitReader(perSecond: CounterReader, others: CounterReader): CounterReader {
  const isPerSecond = ({ rule }: CounterPlace): boolean => rule.unit === 'SECOND';
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
