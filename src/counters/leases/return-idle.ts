import type { LeaseCounts } from './lease-counts';
import type { LeaseTable, WarmCounter } from './lease-table';
import type { OwnAsk } from './own-asks';

/** Sweeps in LEASE_TIME: so much later than it could be is what an idle lease given back. */
export const SWEEPS = 4;

/** Lease times without an ask after which a lease is given back, at the latest. */
export const IDLE_TIMES = 2;

/** Leases that one sweep gives back: a store takes a millisecond for them, and whoever asks beside them waits no longer. */
export const MOST_RETURNS = 500;

/** In windows that end before, what is given back would come too late to be of use. */
const LEAST_SECONDS = 1;

/** When a sweep happens, and what of leases is over then. */
export interface Sweep {
  readonly nowSeconds: number;
  readonly nowMs: number;
  /** Milliseconds without an ask after which a lease is given back; 0: all are, as at the stop. */
  readonly idleMs: number;
}

/** Takes out of leases what is to be given back, of so many at most, and forgets counters that are not asked for. */
export function takeIdle(table: LeaseTable, counts: LeaseCounts, sweep: Sweep): readonly OwnAsk[] {
  const returns: OwnAsk[] = [];
  table.drop((counter) => {
    if (returns.length === MOST_RETURNS) return false;
    const ask = endIdle(counter, counts, sweep);
    if (ask !== undefined) returns.push(ask);
    return counter.lease === undefined && counter.rate.perSecond(sweep.nowMs) === 0;
  });
  return returns;
}

function endIdle(
  counter: WarmCounter,
  counts: LeaseCounts,
  { nowSeconds, nowMs, idleMs }: Sweep,
): OwnAsk | undefined {
  const { lease } = counter;
  if (lease === undefined) return undefined;
  const { windowEndSeconds } = lease.asked;
  if (windowEndSeconds <= nowSeconds) {
    counts.stranded += lease.finish('window');
    counter.lease = undefined;
    return undefined;
  }
  // What its refill brings would be idle too.
  if (lease.isRefilling || nowMs - lease.usedMs < idleMs) return undefined;
  if (lease.unspent === 0) {
    counter.lease = undefined;
    return undefined;
  }
  if (windowEndSeconds - nowSeconds <= LEAST_SECONDS) return undefined;
  return { kind: 'return', lease, size: lease.empty() };
}
