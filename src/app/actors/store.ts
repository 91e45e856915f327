import { map, merge, of, type Observable } from 'rxjs';
import { healthStatus, turnWindow } from '../../../streams';
import type {
  Clock,
  CounterReader,
  Counters,
  CounterWriter,
  Random,
  Statistics,
} from '../../core/ports';
import type { MemcachedEvent } from '../../counters/memcached/options';
import { createMemoryCounters } from '../../counters/memory/create-memory-counters';
import type { OverKey, OverLimitCache } from '../../counters/over-limit-cache';
import type { TellForget } from '../../counters/with-over-limit-cache';
import { claimText, type Claim } from '../../counters/redis/claim';
import { createPerSecondSplit } from '../../counters/per-second-split';
import type { RedisCountersOptions, RedisEvent } from '../../counters/redis/options';
import type { ReadFields } from '../../counters/limits-from/create-limits-from';
import type { ReadableCounters } from '../../counters/split';
import type { Logger } from '../../platform/logger/logger';
import type { MemstoreSettings } from '../../settings/memstore';
import type { Settings } from '../../settings/settings';
import type { StoreSettings } from '../../settings/store';
import { withCircuitBreaker } from '../../counters/circuit-breaker/circuit-breaker';
import { withPipelineWindow } from '../../counters/with-pipeline-window';
import { memcachedReader, memoryReader, redisReader, splitReader } from '../counter-readers';
import { splitTelling, splitWriter } from '../counter-writers';
import { closeWith, createBreakers, createLocalCache, withLocalCache } from '../guard-counters';
import { createLastFailure } from '../last-failure';
import { late } from '../late';
import { logMemcachedEvent, logRedisEvent } from '../log-store-event';
import { createOutageLog, type OutageLog } from '../outage-log';
import { restOfWindowMs } from '../to-options';
import type { Actor } from './actor';
import {
  describeMemcached,
  describeRedis,
  describeSplit,
  PER_SECOND_STORE,
  STORE,
} from './describe-store';

/** A counter store as it is shown: where it is, and whether it is connected. */
export interface StoreView {
  readonly connected$: Observable<boolean>;
  /** The same of each store that there is, by its name in the health check. */
  readonly connections: StoreConnections;
  /** Why the store cannot be reached, with the address; undefined while it can or nothing is known. */
  readonly whyAway: () => string | undefined;
  /** One line for the start: where counters live. */
  readonly description: string;
}

/** Counters as an operator looks at them and changes them. */
export interface OperatorStore {
  /** Looks at counters past breakers and the local cache. */
  readonly reader: CounterReader;
  readonly writer: CounterWriter;
  /** Undefined: other instances cannot hear what their local caches must forget. */
  readonly tellForget?: TellForget | undefined;
  /** Counters known to be over their limit; undefined: there is no local cache. */
  readonly localCache?: OverLimitCache | undefined;
  /** Counters over their limit now, up to a number; undefined: nobody here knows. */
  readonly listOver?: ((nowSeconds: number, most: number) => readonly OverKey[]) | undefined;
  /** Reads fields of a hash; undefined where the store has no hashes. */
  readonly readFields?: ReadFields;
  /** Undefined: instances cannot compare texts in this store. */
  readonly claim?: ((claim: Claim) => Promise<string>) | undefined;
}

/** A counter store, and whether it is connected. It ends with `counters.close()`. */
export interface CounterStore extends StoreView, OperatorStore, Pick<Actor, 'run$'> {
  readonly counters: Counters;
}

export type StoreConnections = ReadonlyMap<string, Observable<boolean>>;

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

/** As in envoyproxy/ratelimit; there is no setting for it. */
const MEMCACHED_TIMEOUT_MS = 500;

/**
 * The store that the settings name, with a circuit breaker and the local cache before it. Its `run$` errors only when the
 * store gave up for good (KVSTORE_STARTUP_MAX_ELAPSED_TIME).
 */
export function chooseCounters(settings: Settings, deps: CounterStoreDeps): CounterStore {
  const outages = createOutageLog(deps);
  const localCache = createLocalCache(settings, deps);
  const onForget =
    localCache &&
    ((keys?: readonly string[]) => {
      localCache.forgetKeys(keys);
    });
  const store = chooseStore(settings, { ...deps, outages, onForget });
  const counters = withLocalCache(store.counters, localCache, store.tellForget);
  const close = () => counters.close().finally(outages.close);
  // The log first: nothing that happens to the store is missed.
  const run$ = merge(outages.run$, store.run$);
  const listOver = localCache?.list ?? store.listOver;
  return { ...store, counters: { ...counters, close }, run$, localCache, listOver };
}

interface StoreDeps extends CounterStoreDeps {
  readonly outages: OutageLog;
  /** See RedisCountersDeps. */
  readonly onForget: OverLimitCache['forgetKeys'] | undefined;
}

/** Two of them when limits per second have their own. */
function chooseStore(settings: Settings, deps: StoreDeps): CounterStore {
  const { store, perSecondStore, memstore, memory } = settings;
  if (memstore !== undefined) return memcachedStore(memstore, deps);
  if (store === undefined) {
    const counters = createMemoryCounters(deps, memory);
    const reader = memoryReader(counters, deps.clock);
    return {
      counters,
      reader,
      writer: counters,
      listOver: counters.listOver,
      ...ALWAYS_THERE,
      run$: of(),
      description: 'memory',
    };
  }
  const others = redisStore(store, STATISTICS_PREFIX, settings, deps);
  if (perSecondStore === undefined) return others;
  const perSecond = redisStore(perSecondStore, PER_SECOND_PREFIX, settings, deps);
  return split(others, perSecond, deps.logger);
}

/** Of counters in memory. */
const ALWAYS_THERE = {
  connected$: of(true),
  connections: new Map<string, Observable<boolean>>(),
  whyAway: () => undefined,
};

/** What a single store runs and shows of its connection. */
function asOne({ connected$, run$ }: Pick<CounterStore, 'connected$' | 'run$'>) {
  return { connected$, run$, connections: new Map([[STORE, connected$]]) };
}

interface ReadableStore extends CounterStore {
  readonly counters: ReadableCounters;
  readonly readFields: ReadFields;
}

function redisStore(
  store: StoreSettings,
  prefix: string,
  settings: Settings,
  deps: StoreDeps,
): ReadableStore {
  const { createRedisCounters, createRedisWriter } = late.redis();
  const last = createLastFailure();
  const onEvent = (event: RedisEvent): void => {
    last.note(event);
    logRedisEvent(deps.logger, deps.outages, event);
  };
  const options = toRedisOptions(store, prefix);
  // A cluster has a breaker for each node: the others are asked while one hangs.
  const isCluster = store.address.kind === 'cluster';
  const breakers = createBreakers(prefix, deps);
  const guardNode = (node: string) => breakers.breakerOf(`Redis at ${node}`).call;
  const counters = createRedisCounters(
    {
      ...deps,
      onEvent,
      onForget: store.cacheInvalidation ? deps.onForget : undefined,
      ...(isCluster ? { guardNode } : {}),
    },
    { ...options, forgetChannel: `${settings.decisions.cacheKeyPrefix}weir:forget` },
  );
  const description = describeRedis(store);
  const windowMs = restOfWindowMs(store, settings);
  const gathered =
    windowMs > 0
      ? withPipelineWindow(counters, turnWindow(windowMs, deps.monotonicMs))
      : { ...counters, run$: of() };
  const guarded = {
    ...closeWith(
      isCluster ? gathered : withCircuitBreaker(gathered, breakers.breakerOf(description)),
      breakers,
    ),
    read: (keys: readonly string[]) => counters.read(keys),
  };
  const run$ = merge(counters.run$, gathered.run$);
  const { connected$, tellForget } = counters;
  return {
    counters: guarded,
    reader: redisReader(counters),
    writer: createRedisWriter(counters),
    tellForget:
      tellForget &&
      ((told) => {
        tellForget(told.map(({ key }) => key));
      }),
    ...asOne({ connected$, run$ }),
    readFields: ({ key }, fields) => counters.readFields(key, fields),
    whyAway: last.whyAway,
    description,
    claim: (claim) => claimText(counters, claim),
  };
}

function memcachedStore(memstore: MemstoreSettings, deps: StoreDeps): CounterStore {
  const { createMemcachedCounters } = late.memcached();
  const last = createLastFailure();
  const onEvent = (event: MemcachedEvent): void => {
    last.note(event);
    logMemcachedEvent(deps.logger, deps.outages, event);
  };
  const options = { ...memstore, timeoutMs: MEMCACHED_TIMEOUT_MS };
  const counters = createMemcachedCounters({ ...deps, onEvent }, options);
  const description = describeMemcached(memstore.nodes);
  const breakers = createBreakers(MEMCACHED_PREFIX, deps);
  const guarded = closeWith(
    withCircuitBreaker(counters, breakers.breakerOf(description)),
    breakers,
  );
  const reader = memcachedReader(counters);
  return {
    counters: guarded,
    reader,
    writer: counters,
    ...asOne(counters),
    whyAway: last.whyAway,
    description,
  };
}

/** Connected while both are: each has counters that the other has not. */
function split(others: ReadableStore, perSecond: ReadableStore, logger: Logger): CounterStore {
  const connections: StoreConnections = new Map([
    [STORE, others.connected$],
    [PER_SECOND_STORE, perSecond.connected$],
  ]);
  const status$ = healthStatus(Object.fromEntries(connections));
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
    reader: splitReader(perSecond.reader, others.reader),
    writer: splitWriter(perSecond.writer, others.writer),
    tellForget: splitTelling(perSecond.tellForget, others.tellForget),
    connected$: status$.pipe(map(({ serving }) => serving)),
    connections,
    readFields: (hash, fields) => (hash.isPerSecond ? perSecond : others).readFields(hash, fields),
    run$: merge(others.run$, perSecond.run$),
    whyAway: () => others.whyAway() ?? perSecond.whyAway(),
    claim: others.claim,
    description: describeSplit(others.description, perSecond.description),
  };
}

function toRedisOptions(store: StoreSettings, statisticsPrefix: string): RedisCountersOptions {
  const { startup } = store;
  return {
    address: store.address,
    database: store.database,
    auth: store.auth,
    tls: store.tls,
    sentinelAuth: store.sentinelAuth,
    // As in envoyproxy/ratelimit, KVSTORE_TLS is for sentinels too.
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
