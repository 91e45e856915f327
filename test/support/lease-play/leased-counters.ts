import type { ReadyCounters } from '../../../src/core/ports';
import {
  createLeasing,
  type LeasedStore,
  type Leasing,
  type LeasingDeps,
  type LeasingOptions,
} from '../../../src/counters/leases/leasing';

export type LeasedCounters = ReadyCounters & Pick<Leasing, 'forgetLeases' | 'readLease' | 'run$'>;

/** Counters behind leases of their own. */
export function leasedCounters(
  { plain, counters, ...deps }: LeasedStore & LeasingDeps,
  options: LeasingOptions,
): LeasedCounters {
  const leasing = createLeasing(deps, options);
  return { ...leasing, ...leasing.before({ plain, counters }) };
}
