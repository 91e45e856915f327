import type * as MemcachedCounters from '../../counters/memcached/create-memcached-counters';
import type * as RedisCounters from '../../counters/redis/create-redis-counters';

/** The stores: most services use one of them. */
export const lazy = {
  memcached: () =>
    require('../../counters/memcached/create-memcached-counters') as typeof MemcachedCounters,
  redis: () => require('../../counters/redis/create-redis-counters') as typeof RedisCounters,
};
