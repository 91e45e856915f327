import { createSnapshot } from '../../../streams';
import { EMPTY, merge, type Observable } from 'rxjs';
import type { Clock, Random, ReadyCounters, Statistics } from '../../core/ports';
import type { OverLimitCache } from '../../counters/over-limit-cache';
import type { OnForget } from '../../counters/redis/options';
import type { Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import type { Actor } from '../actor';
import { createOutageLog, type OutageLog } from '../outage-log';
import type { StoreBackend, StoreView } from './backend';
import { chainCounters } from './chain';
import { createLeases, type LeaseView } from './leases';
import { createLocalCache, type ListBlocked } from './local-cache';
import { openMemcachedStore } from './memcached-store';
import { openMemoryStore } from './memory-store';
import { openRedisStore } from './redis-store';
import { splitStore } from './split-store';

/** Counters as an operator reads and changes them. Undefined: the store cannot do that. */
export interface OperatorStore extends Pick<
  StoreBackend,
  'reader' | 'writer' | 'publishInvalidation' | 'listOver' | 'listOpen' | 'readFields'
> {
  readonly claim: StoreBackend['claim'];
  readonly noteVersions: StoreBackend['noteVersions'];
  /** Counters known to be over their limit; undefined: there is no local cache. */
  readonly localCache: OverLimitCache | undefined;
  /** Undefined: no rule with `block` can be refused without the store. */
  readonly listBlocked: ListBlocked | undefined;
  /** Undefined: the store has no leases. */
  readonly leases: LeaseView | undefined;
}

/** A counter store, and whether it is connected. It ends with `counters.close()`. */
export interface CounterStore extends StoreView, OperatorStore, Pick<Actor, 'run$'> {
  readonly counters: ReadyCounters;
  readonly hanging: StoreBackend['hanging'];
  readonly scriptStores: StoreBackend['scriptStores'];
}

export interface CounterStoreDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

const REDIS = {
  name: 'redis',
  prefix: 'ratelimit.redis_pool',
  typeSetting: 'KVSTORE_TYPE',
} as const;
const PER_SECOND = {
  name: 'redis_per_second',
  prefix: 'ratelimit.redis_per_second_pool',
  typeSetting: 'KVSTORE_PERSECOND_TYPE',
} as const;

/**
 * The store that the settings name, with all links of `chain.ts` in front of it. Its `run$` errors only when the store gave
 * up for good (KVSTORE_STARTUP_MAX_ELAPSED_TIME).
 */
export function chooseCounters(
  settings: Settings,
  deps: CounterStoreDeps,
  open: (settings: Settings, deps: BackendDeps) => StoreBackend = openBackend,
): CounterStore {
  const outages = createOutageLog(deps);
  const localCache = createLocalCache(settings, deps);
  const { onForget: forgetCached, isUsed$ } = localCache;
  const leasing = createSnapshot(settings.leases.mode === 'on');
  const onForget: OnForget = (keys, endsLeases) => {
    forgetCached?.(keys);
    leases?.onForget(keys, endsLeases);
  };
  // A cache of any size receives messages from the start.
  const isAlwaysUsed = forgetCached !== undefined && isUsed$ === undefined;
  const forgetWhen$ = isAlwaysUsed ? undefined : merge(isUsed$ ?? EMPTY, leasing.changes$);
  const backend = open(settings, { ...deps, outages, onForget, forgetWhen$ });
  const cached = localCache.before(backend);
  const onFirst = (): void => {
    if (!leasing.current) leasing.set(true);
  };
  const leases =
    settings.backend === 'memory'
      ? undefined
      : createLeases(settings, { ...deps, ...cached, onFirst });
  const counters = chainCounters({
    leases: leases?.link,
    overLimitCache: cached.link,
    servers: backend.servers,
  });
  const close = async (): Promise<void> => {
    leasing.close();
    localCache.close();
    backend.closeGauges();
    await counters.close().finally(outages.close);
  };
  return {
    counters: { add: (batch) => counters.add(batch), close },
    // The log first: it must miss no event of the store.
    run$: merge(outages.run$, backend.run$, leases?.run$ ?? EMPTY),
    reader: backend.reader,
    writer: backend.writer,
    publishInvalidation: cached.publishInvalidation,
    localCache: cached.localCache,
    leases: leases?.view,
    listOver: cached.listOver,
    listBlocked: cached.listBlocked,
    listOpen: backend.listOpen,
    readFields: backend.readFields,
    claim: backend.claim,
    noteVersions: backend.noteVersions,
    scriptStores: backend.scriptStores,
    connected$: backend.connected$,
    connections: backend.connections,
    whyAway: backend.whyAway,
    misplaced: backend.misplaced,
    hanging: backend.hanging,
    description: backend.description,
  };
}

interface BackendDeps extends CounterStoreDeps {
  readonly outages: OutageLog;
  /** See RedisCountersDeps. */
  readonly onForget: OnForget;
  readonly forgetWhen$: Observable<boolean> | undefined;
}

/** Two of Redis when per-second limits have their own. */
function openBackend(settings: Settings, deps: BackendDeps): StoreBackend {
  const { store, perSecondStore, memstore, memory } = settings;
  if (memstore !== undefined) return openMemcachedStore(memstore, deps);
  if (store === undefined) return openMemoryStore(memory, deps);
  const others = openRedisStore(store, REDIS, settings, deps);
  if (perSecondStore === undefined) return others;
  const perSecond = openRedisStore(perSecondStore, PER_SECOND, settings, deps);
  return splitStore(others, perSecond, deps.logger);
}
