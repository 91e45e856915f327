import { map, merge, of, type Observable } from 'rxjs';
import { healthStatus, turnWindow } from '../../streams';
import type { Clock, Counters, Random, Statistics } from '../core/ports';
import type * as MemcachedCounterStore from '../counters/memcached/create-memcached-counters';
import { toNodeText, type MemcachedEvent, type NodeList } from '../counters/memcached/options';
import { createMemoryCounters } from '../counters/memory/create-memory-counters';
import { createPerSecondSplit } from '../counters/per-second-split';
import type * as RedisCounterStore from '../counters/redis/create-redis-counters';
import {
  toAddressText,
  type RedisCountersOptions,
  type RedisEvent,
} from '../counters/redis/options';
import type { ReadableCounters } from '../counters/split';
import type { Logger } from '../platform/logger/logger';
import type { MemstoreSettings } from '../settings/memstore';
import type { Settings } from '../settings/settings';
import type { StoreSettings } from '../settings/store';
import { withCircuitBreaker } from '../counters/circuit-breaker/circuit-breaker';
import { withPipelineWindow } from '../counters/with-pipeline-window';
import { restOfWindowMs } from './gathering-window';
import { closeWith, createBreakers, withLocalCache } from './guard-counters';
import { logMemcachedEvent } from './log-memcached-event';
import { logRedisEvent } from './log-redis-event';
import { createOutageLog, type OutageLog } from './outage-log';

/** A counter store, whether it is connected, and what it does by itself. */
export interface CounterStore {
  readonly counters: Counters;
  readonly connected$: Observable<boolean>;
  /** The same of each store that there is, by its name in the health check. */
  readonly connections: StoreConnections;
  /** Fails only when the store gave up for good (KVSTORE_STARTUP_MAX_ELAPSED_TIME). */
  readonly run$: Observable<unknown>;
  /** Why the store cannot be reached, with the address; undefined while it can or nothing is known. */
  readonly whyAway: () => string | undefined;
  /** One line for the start: where counters live. */
  readonly description: string;
}

export type StoreConnections = ReadonlyMap<string, Observable<boolean>>;

export interface CounterStoreDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

/** Their names in the health check. */
const STORE = 'store';
const PER_SECOND_STORE = 'per-second store';

const STATISTICS_PREFIX = 'ratelimit.redis_pool';
const PER_SECOND_PREFIX = 'ratelimit.redis_per_second_pool';
const MEMCACHED_PREFIX = 'ratelimit.memcache';

/** As long as the reference's client waits; there is no setting for it. */
const MEMCACHED_TIMEOUT_MS = 500;

/** The store that the settings name, each behind a breaker of its own, all behind the local cache. */
export function chooseCounters(settings: Settings, deps: CounterStoreDeps): CounterStore {
  const outages = createOutageLog(deps);
  const store = chooseStore(settings, { ...deps, outages });
  const counters = withLocalCache(store.counters, settings, deps);
  const close = () => counters.close().finally(outages.close);
  // The log first: nothing that happens to the store is missed.
  return { ...store, counters: { ...counters, close }, run$: merge(outages.run$, store.run$) };
}

interface StoreDeps extends CounterStoreDeps {
  readonly outages: OutageLog;
}

/** Two when limits per second have one of their own. */
function chooseStore(settings: Settings, deps: StoreDeps): CounterStore {
  const { store, perSecondStore, memstore, memory } = settings;
  if (memstore !== undefined) return memcachedStore(memstore, deps);
  if (store === undefined) {
    const counters = createMemoryCounters(deps, memory);
    return { counters, ...ALWAYS_THERE, run$: of(), description: 'memory' };
  }
  const others = redisStore(store, STATISTICS_PREFIX, settings, deps);
  if (perSecondStore === undefined) return others;
  const perSecond = redisStore(perSecondStore, PER_SECOND_PREFIX, settings, deps);
  return split(others, perSecond, deps.logger);
}

/** Memory is. */
const ALWAYS_THERE = {
  connected$: of(true),
  connections: new Map<string, Observable<boolean>>(),
  whyAway: () => undefined,
};

const asOne = (connected$: Observable<boolean>): StoreConnections => new Map([[STORE, connected$]]);

interface ReadableStore extends CounterStore {
  readonly counters: ReadableCounters;
}

function redisStore(
  store: StoreSettings,
  prefix: string,
  settings: Settings,
  deps: StoreDeps,
): ReadableStore {
  const { createRedisCounters } = loadRedis();
  const last = createLastFailure();
  const onEvent = (event: RedisEvent): void => {
    last.note(event);
    logRedisEvent(deps.logger, deps.outages, event);
  };
  const options = toRedisOptions(store, prefix);
  // A cluster has a breaker for each node: one that hangs is no reason to leave the others alone.
  const isCluster = store.address.kind === 'cluster';
  const breakers = createBreakers(prefix, deps);
  const guardNode = (node: string) => breakers.breakerOf(`Redis at ${node}`).call;
  const counters = createRedisCounters(
    { ...deps, onEvent, ...(isCluster ? { guardNode } : {}) },
    options,
  );
  const { connected$, run$ } = counters;
  const inDatabase = store.database === 0 ? '' : `, database ${String(store.database)}`;
  const description = `Redis at ${toAddressText(store.address)}${inDatabase}`;
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
  const { whyAway } = last;
  return {
    counters: guarded,
    connected$,
    connections: asOne(connected$),
    run$: merge(run$, gathered.run$),
    whyAway,
    description,
  };
}

function memcachedStore(memstore: MemstoreSettings, deps: StoreDeps): CounterStore {
  const { createMemcachedCounters } = loadMemcached();
  const last = createLastFailure();
  const onEvent = (event: MemcachedEvent): void => {
    last.note(event);
    logMemcachedEvent(deps.logger, deps.outages, event);
  };
  const options = { ...memstore, timeoutMs: MEMCACHED_TIMEOUT_MS };
  const counters = createMemcachedCounters({ ...deps, onEvent }, options);
  const { connected$, run$ } = counters;
  const description = `memcached at ${toNodesText(memstore.nodes)}`;
  const breakers = createBreakers(MEMCACHED_PREFIX, deps);
  const guarded = closeWith(
    withCircuitBreaker(counters, breakers.breakerOf(description)),
    breakers,
  );
  const { whyAway } = last;
  return {
    counters: guarded,
    connected$,
    connections: asOne(connected$),
    run$,
    whyAway,
    description,
  };
}

const AWAY: ReadonlySet<string> = new Set(['disconnected', 'unreachable', 'unresolved']);
const BACK: ReadonlySet<string> = new Set(['connected', 'resolved']);

/** Remembers the last server that was lost or could not be reached, until it is connected. */
function createLastFailure() {
  let last: { readonly store: string; readonly reason: string } | undefined;
  return {
    note(event: RedisEvent | MemcachedEvent): void {
      const { kind, store } = event;
      if (AWAY.has(kind) && 'reason' in event) last = { store, reason: event.reason };
      else if (BACK.has(kind) && store === last?.store) last = undefined;
    },
    whyAway: () => (last === undefined ? undefined : `${last.store}: ${last.reason}`),
  };
}

function toNodesText(nodes: NodeList): string {
  return nodes.kind === 'srv' ? nodes.record : nodes.addresses.map(toNodeText).join(',');
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
    connected$: status$.pipe(map(({ serving }) => serving)),
    connections,
    run$: merge(others.run$, perSecond.run$),
    whyAway: () => others.whyAway() ?? perSecond.whyAway(),
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
    database: store.database,
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
