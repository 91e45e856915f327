import { timer } from 'rxjs';
import type { Counters } from '../../core/ports';
import type { LeasePlace } from '../../counters/leases/lease-table';
import type { LeaseReading } from '../../counters/leases/leases';
import { withLeases, type LeasedCountersDeps } from '../../counters/leases/with-leases';
import type { OverLimitCache } from '../../counters/over-limit-cache';
import type { OnForget } from '../../counters/redis/options';
import { withOverLimitCache, type PublishInvalidation } from '../../counters/with-over-limit-cache';
import type { Settings } from '../../settings/settings';
import { createLeasedCache } from './local-cache';

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
