/* eslint-disable @typescript-eslint/no-require-imports -- each is loaded when it is first used: a start loads nothing that the settings do not ask for */
import type * as MemcachedCounters from '../counters/memcached/create-memcached-counters';
import type * as RedisCounters from '../counters/redis/create-redis-counters';
import type * as Tracing from '../tracing/create-tracing';
import type * as GrpcJs from '../transport/grpc/grpc-js/transport';
import type * as ScrapeSink from './scrape-sink';
import type * as XdsSource from './xds-source';

/** The modules that only some settings need. */
export const lazy = {
  grpcJs: () => require('../transport/grpc/grpc-js/transport') as typeof GrpcJs,
  memcached: () =>
    require('../counters/memcached/create-memcached-counters') as typeof MemcachedCounters,
  redis: () => require('../counters/redis/create-redis-counters') as typeof RedisCounters,
  scrapeSink: () => require('./scrape-sink') as typeof ScrapeSink,
  tracing: () => require('../tracing/create-tracing') as typeof Tracing,
  xdsSource: () => require('./xds-source') as typeof XdsSource,
};
