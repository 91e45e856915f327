import { map, merge, of, type Observable } from 'rxjs';
import { healthStatus } from '../../streams';
import type { Clock, Counters, Random, Statistics } from '../core/ports';
import { toAddressText } from '../counters/redis/address';
import type * as MemcachedCounterStore from '../counters/memcached/create-memcached-counters';
import { toNodeText, type MemcachedEvent, type NodeList } from '../counters/memcached/options';
import { createMemoryCounters } from '../counters/memory/create-memory-counters';
import { createPerSecondSplit } from '../counters/per-second/create-per-second-split';
import type * as RedisCounterStore from '../counters/redis/create-redis-counters';
import type { RedisCountersOptions, RedisEvent } from '../counters/redis/options';
import type { ReadableCounters } from '../counters/split';
import type { Logger } from '../platform/logger/logger';
import type { MemstoreSettings } from '../settings/memstore';
import type { Settings } from '../settings/settings';
import type { StoreSettings } from '../settings/store';
import { withBreaker, withLocalCache } from './guard-counters';
import { logMemcachedEvent } from './log-memcached-event';
import { logRedisEvent } from './log-redis-event';

/** A counter store, whether it is connected, and what it does by itself. */
export interface CounterStore {
  readonly counters: Counters;
  readonly connected$: Observable<boolean>;
  /** Fails only when the store gave up for good (KVSTORE_STARTUP_MAX_ELAPSED_TIME). */
  readonly run$: Observable<unknown>;
  /** One line for the start: where counters live. */
  readonly description: string;
}

export interface CounterStoreDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

const STATISTICS_PREFIX = 'ratelimit.redis_pool';
const PER_SECOND_PREFIX = 'ratelimit.redis_per_second_pool';
const MEMCACHED_PREFIX = 'ratelimit.memcache';

/** The reference's client waits so long; the document has no setting for it. */
const MEMCACHED_TIMEOUT_MS = 500;

/** The store that the settings name, each behind a breaker of its own, all behind the local cache. */
export function chooseCounters(settings: Settings, deps: CounterStoreDeps): CounterStore {
  const store = chooseStore(settings, deps);
  return { ...store, counters: withLocalCache(store.counters, settings, deps) };
}

/** Two when limits per second have one of their own. */
function chooseStore(settings: Settings, deps: CounterStoreDeps): CounterStore {
  const { store, perSecondStore, memstore, memory } = settings;
  if (memstore !== undefined) return memcachedStore(memstore, deps);
  if (store === undefined) {
    const counters = createMemoryCounters(deps, { maxKeys: memory.maxKeys });
    return { counters, connected$: of(true), run$: of(), description: 'memory' };
  }
  const others = redisStore(store, STATISTICS_PREFIX, deps);
  if (perSecondStore === undefined) return others;
  return split(others, redisStore(perSecondStore, PER_SECOND_PREFIX, deps), deps.logger);
}

interface ReadableStore extends CounterStore {
  readonly counters: ReadableCounters;
}

function redisStore(store: StoreSettings, prefix: string, deps: CounterStoreDeps): ReadableStore {
  const { createRedisCounters } = loadRedis();
  const onEvent = (event: RedisEvent): void => {
    logRedisEvent(deps.logger, event);
  };
  const options = toRedisOptions(store, prefix);
  const counters = createRedisCounters({ ...deps, onEvent }, options);
  const { connected$, run$ } = counters;
  const description = `Redis at ${toAddressText(store.address)}`;
  const guarded = {
    ...withBreaker(counters, description, prefix, deps),
    read: (keys: readonly string[]) => counters.read(keys),
  };
  return { counters: guarded, connected$, run$, description };
}

function memcachedStore(memstore: MemstoreSettings, deps: CounterStoreDeps): CounterStore {
  const { createMemcachedCounters } = loadMemcached();
  const onEvent = (event: MemcachedEvent): void => {
    logMemcachedEvent(deps.logger, event);
  };
  const options = { ...memstore, timeoutMs: MEMCACHED_TIMEOUT_MS };
  const counters = createMemcachedCounters({ ...deps, onEvent }, options);
  const { connected$, run$ } = counters;
  const description = `memcached at ${toNodesText(memstore.nodes)}`;
  return {
    counters: withBreaker(counters, description, MEMCACHED_PREFIX, deps),
    connected$,
    run$,
    description,
  };
}

function toNodesText(nodes: NodeList): string {
  return nodes.kind === 'srv' ? nodes.record : nodes.addresses.map(toNodeText).join(',');
}

/** Connected while both are: each has counters that the other has not. */
function split(others: ReadableStore, perSecond: ReadableStore, logger: Logger): CounterStore {
  const status$ = healthStatus({
    others: others.connected$,
    perSecond: perSecond.connected$,
  });
  return {
    counters: createPerSecondSplit({
      perSecond: perSecond.counters,
      others: others.counters,
      onNotAtomic() {
        logger.warn(
          'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT is not atomic for requests with counters in both stores: they are read before they are added to',
        );
      },
    }),
    connected$: status$.pipe(map(({ serving }) => serving)),
    run$: merge(others.run$, perSecond.run$),
    description: `${others.description}, limits per second in ${perSecond.description}`,
  };
}

/** Loaded only when it is used: start-up time. */
function loadRedis(): typeof RedisCounterStore {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('../counters/redis/create-redis-counters') as typeof RedisCounterStore;
}

function loadMemcached(): typeof MemcachedCounterStore {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('../counters/memcached/create-memcached-counters') as typeof MemcachedCounterStore;
}

function toRedisOptions(store: StoreSettings, statisticsPrefix: string): RedisCountersOptions {
  const { startup } = store;
  return {
    address: store.address,
    auth: store.auth,
    tls: store.tls,
    sentinelAuth: store.sentinelAuth,
    // As today's operators have it: KVSTORE_TLS is for sentinels too.
    sentinelTls: store.tls,
    timeoutMs: store.timeoutMs,
    scripts: store.scripts,
    startupInitialMs: startup.initialIntervalMs,
    startupMaxMs: startup.maxIntervalMs,
    startupMaxElapsedMs: startup.maxElapsedMs,
    pool: store.pool,
    clusterParallelism: store.clusterPipelineParallelism,
    statisticsPrefix,
  };
}
