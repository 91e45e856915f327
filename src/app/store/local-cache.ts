import { type Observable, timer } from 'rxjs';
import { createSnapshot } from '../../../streams';
import type { Counters } from '../../core/ports';
import { createOverLimitCache, type OverLimitCache } from '../../counters/over-limit-cache';
import { forgettingBlocked, withBlockedKeys } from '../../counters/with-blocked-keys';
import { withOverLimitCache, type PublishInvalidation } from '../../counters/with-over-limit-cache';
import type { Settings } from '../../settings/settings';
import type { GuardDeps } from './guard-counters';
import type { LeasePlace } from '../../counters/leases/lease-table';
import type { LeaseReading } from '../../counters/leases/leases';
import { withLeases, type LeasedCountersDeps } from '../../counters/leases/with-leases';
import type { OnForget } from '../../counters/redis/options';

/** Memory for blocked keys where there is no other local cache (budgets.md section 6). */
const BLOCKED_BYTES = 1_048_576;

/** Memory for leased counters over their limit in that case (docs/leases.md). */
const LEASED_BYTES = 1_048_576;

/** The local cache in front of a store's counters. */
export interface LocalCache {
  /** Called with the messages of other instances; undefined: there is no cache. */
  readonly onForget: OverLimitCache['forgetKeys'] | undefined;
  /** When it starts to need messages; undefined: at once. */
  readonly isUsed$?: Observable<boolean>;
  readonly before: <S extends Cached>(store: S) => S;
}

/** The parts of a store that a local cache changes. */
interface Cached {
  readonly counters: Counters;
  readonly publishInvalidation?: PublishInvalidation | undefined;
  readonly localCache?: OverLimitCache | undefined;
  readonly listOver?: OverLimitCache['list'] | undefined;
  readonly listBlocked?: ListBlocked;
}

/** Keys that a block refuses, where no others are known to be over their limits; undefined: no rule with `block` was used. */
export type ListBlocked = (
  ...asked: Parameters<OverLimitCache['list']>
) => ReturnType<OverLimitCache['list']> | undefined;

/** A cache of `LocalCacheSizeInBytes`; without it, a cache of blocked keys only, where resets can reach it. */
export function createLocalCache(
  settings: Settings,
  { statistics }: Pick<GuardDeps, 'statistics'>,
): LocalCache {
  const { localCacheSizeBytes: sizeBytes } = settings.decisions;
  const leasedSeconds = knownSecondsOf(settings.leases);
  if (sizeBytes > 0)
    return ofSize(createOverLimitCache({ statistics }, { sizeBytes, leasedSeconds }));
  const isHeard = [settings.store, settings.perSecondStore].every(
    (store) => store === undefined || store.cacheInvalidation,
  );
  if (settings.store === undefined || !isHeard)
    return { onForget: undefined, before: (store) => store };
  // Its gauges would be new to users without a rule with `block`.
  return ofBlocked(createOverLimitCache({}, { sizeBytes: BLOCKED_BYTES }));
}

/** Without a local cache, leased counters have this one. */
function createLeasedCache({ leases }: Settings): OverLimitCache {
  const leasedSeconds = knownSecondsOf(leases);
  return createOverLimitCache({}, { sizeBytes: LEASED_BYTES, leasedSeconds });
}

/** A leased counter is cached as over its limit for two lease times: until then, other instances return the hits that they do not need. */
function knownSecondsOf({ timeMs }: Settings['leases']): number {
  return (2 * timeMs) / 1_000;
}

function ofSize(localCache: OverLimitCache): LocalCache {
  return {
    onForget: forgetting(localCache),
    before: (store) => ({
      ...store,
      counters: withOverLimitCache(store.counters, localCache, store),
      localCache,
      listOver: localCache.list,
    }),
  };
}

function ofBlocked(cache: OverLimitCache): LocalCache {
  const isUsed = createSnapshot(false);
  const onUsed = (): void => {
    if (!isUsed.current) isUsed.set(true);
  };
  return {
    onForget: forgetting(cache),
    isUsed$: isUsed.changes$,
    before(store) {
      const { publishInvalidation } = store;
      const counters = withBlockedKeys(store.counters, cache, onUsed);
      const close = (): Promise<void> => {
        isUsed.close();
        return counters.close();
      };
      return {
        ...store,
        counters: { ...counters, close },
        listBlocked: (...asked) => (isUsed.current ? cache.list(...asked) : undefined),
        publishInvalidation: publishInvalidation && forgettingBlocked(cache, publishInvalidation),
      };
    },
  };
}

function forgetting(cache: OverLimitCache): OverLimitCache['forgetKeys'] {
  return (keys) => {
    cache.forgetKeys(keys);
  };
}

/** Leases as an operator reads and ends them. */
export interface LeaseView {
  /** Undefined: no counter of this key is leased here. */
  readonly read: (place: LeasePlace) => LeaseReading | undefined;
  /** Ends the leases of counters that were reset or set. */
  readonly forget: (keys: readonly string[]) => void;
  /** Cache of leased counters that are over their limit; undefined: the local cache has them. */
  readonly cache: OverLimitCache | undefined;
}

interface LeasableStore {
  readonly counters: Counters;
  /** Undefined: it caches no counters over their limit. */
  readonly localCache?: OverLimitCache | undefined;
  readonly publishInvalidation?: PublishInvalidation | undefined;
  /** Called once, when the first counter might be leased. */
  readonly onFirst: () => void;
}

/** Leases in front of a store that others share. They have no effect until a rule is leased. */
export function openLeases(
  { counters, localCache, publishInvalidation, onFirst }: LeasableStore,
  settings: Settings,
  deps: Pick<LeasedCountersDeps, 'clock' | 'monotonicMs' | 'statistics'>,
) {
  const { leases, storeFailure, backend } = settings;
  const cache = localCache === undefined ? createLeasedCache(settings) : undefined;
  const leased = withLeases(
    {
      ...deps,
      plain: counters,
      counters:
        cache === undefined
          ? counters
          : withOverLimitCache(counters, cache, {
              publishInvalidation,
              keeps: ({ rule }) => rule.isLeased === true,
            }),
      wait: (milliseconds) => timer(milliseconds),
      onFirst,
    },
    // Each worker counts as an instance: `storeFailure` of a worker includes that.
    { ...leases, instances: storeFailure.replicas, sendsApart: backend === 'memstore' },
  );
  /** Called for messages of other instances, and of this one. */
  const end: OnForget = (keys, endsLeases) => {
    cache?.forgetKeys(keys);
    if (endsLeases) leased.forgetLeases(keys);
  };
  const view: LeaseView = {
    cache,
    read: leased.readLease,
    forget: (keys) => {
      end(keys, true);
    },
  };
  return { counters: leased, run$: leased.run$, hear: end, view };
}
