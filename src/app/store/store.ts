import { createSnapshot } from '../../../streams';
import { EMPTY, merge, of, type Observable } from 'rxjs';
import type {
  Clock,
  CounterReader,
  Counters,
  CounterWriter,
  ListOpen,
  Random,
  ReadyCounters,
  Statistics,
} from '../../core/ports';
import type { ReadFields } from '../../counters/limits-from/create-limits-from';
import { createMemoryCounters } from '../../counters/memory/create-memory-counters';
import type { OverLimitCache } from '../../counters/over-limit-cache';
import type { VersionNote, Claim } from '../../counters/redis/notes';
import type { OnForget } from '../../counters/redis/options';
import type { PublishInvalidation } from '../../counters/with-over-limit-cache';
import { memoryBounds, readHeapLimit } from './memory-bounds';
import type { Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import { memoryReader } from './counter-readers';
import { createLocalCache, type ListBlocked, openLeases, type LeaseView } from './local-cache';
import { createOutageLog, type OutageLog } from '../outage-log';
import type { Actor } from '../actor';
import { byName, STORE } from './describe-store';
import { openMemcachedStore } from './memcached-store';
import { openRedisStore } from './redis-store';
import { splitStore } from './split-store';

/** The state of a counter store for display: where it is, and whether it is connected. */
export interface StoreView {
  readonly connected$: Observable<boolean>;
  /** Connections of each store, by its name in the health check. */
  readonly connections: StoreConnections;
  /** Why the store cannot be reached, with the address; undefined while it can or the cause is unknown. */
  readonly whyAway: () => string | undefined;
  /** How to mend a store that is not of the kind in the settings, by its name in the health check; undefined: not applicable. */
  readonly misplaced?: (() => ReadonlyMap<string, string>) | undefined;
  /** One line for the start: where counters are stored. */
  readonly description: string;
}

/** Counters as an operator reads and changes them. */
export interface OperatorStore {
  /** Reads counters past breakers and the local cache. */
  readonly reader: CounterReader;
  readonly writer: CounterWriter;
  /** Undefined: other instances cannot receive what their local caches must drop. */
  readonly publishInvalidation?: PublishInvalidation | undefined;
  /** Counters known to be over their limit; undefined: there is no local cache. */
  readonly localCache?: OverLimitCache | undefined;
  /** Undefined: the store has no leases. */
  readonly leases?: LeaseView | undefined;
  /** Counters over their limit now, up to a number; undefined where they cannot be listed. */
  readonly listOver?: OverLimitCache['list'] | undefined;
  readonly listBlocked?: ListBlocked;
  /** Undefined: no rule of this store has reservations. */
  readonly listOpen?: ListOpen | undefined;
  /** Reads fields of a hash; undefined where the store has no hashes. */
  readonly readFields?: ReadFields;
  /** Undefined: instances cannot compare texts in this store. */
  readonly claim?: ((claim: Claim) => Promise<string>) | undefined;
  /** Writes versions, and returns those of all instances; undefined for the same reason. */
  readonly noteVersions?: ((note: VersionNote) => Promise<readonly string[]>) | undefined;
}

/** A Redis and its support of scripts. */
export interface ScriptStore {
  /** The prefix of its statistics. */
  readonly prefix: string;
  /** It refuses scripts now, although the settings ask for them. */
  readonly lacksScripts: () => boolean;
  /** The rules whose counters it has. */
  readonly counts: 'all' | 'per-second' | 'others';
}

/** A counter store, and whether it is connected. It ends with `counters.close()`. */
export interface CounterStore extends StoreView, OperatorStore, Pick<Actor, 'run$'> {
  readonly counters: ReadyCounters;
  /** Names of connected stores that do not answer, as in the health check; undefined: not applicable. */
  readonly hanging?: () => readonly string[];
  /** Undefined: it has no scripts. */
  readonly scriptStores?: readonly ScriptStore[];
}

export type StoreConnections = ReadonlyMap<string, Observable<boolean>>;

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
 * The store that the settings name, with a circuit breaker and the local cache in front of it. Its `run$` errors only when the
 * store gave up for good (KVSTORE_STARTUP_MAX_ELAPSED_TIME).
 */
export function chooseCounters(settings: Settings, deps: CounterStoreDeps): CounterStore {
  const outages = createOutageLog(deps);
  const { onForget: forgetCached, isUsed$, before } = createLocalCache(settings, deps);
  const leasing = createSnapshot(settings.leases.mode === 'on');
  const onForget: OnForget = (keys, endsLeases) => {
    forgetCached?.(keys);
    leased?.hear(keys, endsLeases);
  };
  // A cache of any size receives messages from the start.
  const isAlwaysUsed = forgetCached !== undefined && isUsed$ === undefined;
  const forgetWhen$ = isAlwaysUsed ? undefined : merge(isUsed$ ?? EMPTY, leasing.changes$);
  const chosen = chooseStore(settings, { ...deps, outages, onForget, forgetWhen$ });
  const store = before(chosen);
  const publishInvalidation = publishingFor(store, chosen.publishInvalidation);
  const onFirst = (): void => {
    if (!leasing.current) leasing.set(true);
  };
  const leased =
    settings.backend === 'memory'
      ? undefined
      : openLeases({ ...store, publishInvalidation, onFirst }, settings, deps);
  const counters: ReadyCounters = leased?.counters ?? store.counters;
  const close = async (): Promise<void> => {
    leasing.close();
    await counters.close().finally(outages.close);
  };
  // The log first: it must miss no event of the store.
  const run$ = merge(outages.run$, store.run$, leased?.run$ ?? EMPTY);
  const added = { publishInvalidation, leases: leased?.view, run$ };
  return { ...store, ...added, counters: { add: (batch) => counters.add(batch), close } };
}

/** Without a local cache, only blocked and leased counters are published. */
function publishingFor(
  { publishInvalidation, localCache }: PlainStore,
  publish: PublishInvalidation | undefined,
): PublishInvalidation | undefined {
  if (publish === undefined || localCache !== undefined) return publish;
  return (counters, isReset) => {
    if (publishInvalidation !== publish) publishInvalidation?.(counters);
    const leased = counters.filter(({ rule }) => rule.isLeased);
    if (leased.length > 0) publish(leased, isReset);
  };
}

/** A store without leases. */
interface PlainStore extends CounterStore {
  readonly counters: Counters;
}

interface StoreDeps extends CounterStoreDeps {
  readonly outages: OutageLog;
  /** See RedisCountersDeps. */
  readonly onForget: OnForget;
  readonly forgetWhen$: Observable<boolean> | undefined;
}

/** Two of them when per-second limits have their own. */
function chooseStore(settings: Settings, deps: StoreDeps): PlainStore {
  const { store, perSecondStore, memstore, memory } = settings;
  if (memstore !== undefined) return openMemcachedStore(memstore, deps);
  if (store === undefined) return memoryStore(memory, deps);
  const others = openRedisStore(store, REDIS, settings, deps);
  if (perSecondStore === undefined)
    return {
      ...others,
      misplaced: () => byName([[STORE, others.misplaced()]]),
      scriptStores: [{ ...others.scripts, counts: 'all' }],
    };
  const perSecond = openRedisStore(perSecondStore, PER_SECOND, settings, deps);
  return splitStore(others, perSecond, deps.logger);
}

/** It needs no connection. */
function memoryStore(memory: Settings['memory'], deps: StoreDeps): PlainStore {
  const counters = createMemoryCounters(deps, memoryBounds(memory, readHeapLimit()));
  return {
    counters,
    reader: memoryReader(counters, deps.clock),
    writer: counters,
    listOver: counters.listOver,
    listOpen: ({ key }, most) => Promise.resolve(counters.listOpen(key, deps.clock(), most)),
    connected$: of(true),
    connections: new Map(),
    whyAway: () => undefined,
    run$: of(),
    description: 'memory',
  };
}
