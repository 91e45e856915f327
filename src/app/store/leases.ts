import { timer, type Observable } from 'rxjs';
import type { Clock, ReadyCounters, Statistics } from '../../core/ports';
import type { LeasePlace } from '../../counters/leases/lease-table';
import type { LeaseReading } from '../../counters/leases/leases';
import { createLeasing } from '../../counters/leases/leasing';
import { createOverLimitCache, type OverLimitCache } from '../../counters/over-limit-cache';
import type { OnForget } from '../../counters/redis/options';
import { withOverLimitCache, type PublishInvalidation } from '../../counters/with-over-limit-cache';
import type { Settings } from '../../settings/settings';
import type { Link } from './chain';
import { knownSecondsOf } from './local-cache';

/** Memory for leased counters over their limit where there is no local cache (docs/stores/leases.md). */
const CACHE_BYTES = 1_048_576;

/** Leases as an operator reads and ends them. */
export interface LeaseView {
  /** Undefined: no counter of this key is leased here. */
  readonly read: (place: LeasePlace) => LeaseReading | undefined;
  /** Ends the leases of counters that were reset or set. */
  readonly forget: (keys: readonly string[]) => void;
  /** Cache of leased counters that are over their limit; undefined: the local cache has them. */
  readonly cache: OverLimitCache | undefined;
}

interface LeasesDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly statistics: Statistics;
  /** Undefined: it caches no counters over their limit. */
  readonly localCache: OverLimitCache | undefined;
  readonly publishInvalidation: PublishInvalidation | undefined;
  /** Called once, when the first counter might be leased. */
  readonly onFirst: () => void;
}

export interface StoreLeases {
  readonly link: Link<ReadyCounters>;
  /** Called for messages of other instances, and of this one. */
  readonly onForget: OnForget;
  readonly view: LeaseView;
  readonly run$: Observable<never>;
}

/** Leases in front of a store that others share. They have no effect until a rule is leased. */
export function createLeases(
  settings: Settings,
  { localCache, publishInvalidation, ...deps }: LeasesDeps,
): StoreLeases {
  const { leases, storeFailure, backend } = settings;
  const cache = localCache === undefined ? createCache(settings) : undefined;
  const leasing = createLeasing(
    { ...deps, wait: (milliseconds) => timer(milliseconds) },
    // Each worker counts as an instance: `storeFailure` of a worker includes that.
    { ...leases, instances: storeFailure.failureReplicas, sendsApart: backend === 'memstore' },
  );
  const keeps = ({ rule }: LeasePlace): boolean => rule.isLeased === true;
  const onForget: OnForget = (keys, endsLeases) => {
    cache?.forgetKeys(keys);
    if (endsLeases) leasing.forgetLeases(keys);
  };
  return {
    link: (plain) => {
      const counters =
        cache === undefined
          ? plain
          : withOverLimitCache(plain, cache, { publishInvalidation, keeps });
      return leasing.before({ plain, counters });
    },
    onForget,
    view: {
      cache,
      read: leasing.readLease,
      forget: (keys) => {
        onForget(keys, true);
      },
    },
    run$: leasing.run$,
  };
}

function createCache(settings: Settings): OverLimitCache {
  const leasedSeconds = knownSecondsOf(settings.leases);
  return createOverLimitCache({}, { sizeBytes: CACHE_BYTES, leasedSeconds });
}
