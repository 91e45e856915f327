import type { LeaseCounts } from './lease-counts';
import type { LeaseTable, WarmCounter } from './lease-table';
import type { OwnOperation } from './own-operations';

/** Sweeps per LEASE_TIME: the delay with which an idle lease is returned. */
export const SWEEPS = 4;

/** A lease without a request for this many lease times is returned, at the latest. */
export const IDLE_TIMES = 2;

/** Leases returned per sweep: a store needs a millisecond for them, and other calls wait no longer. */
export const MAX_RETURNS = 500;

/** In windows that end sooner, returned hits would come too late to be useful. */
const LEAST_SECONDS = 1;

/** The time of a sweep, and which leases it ends. */
export interface Sweep {
  readonly nowSeconds: number;
  readonly nowMs: number;
  /** Milliseconds without a request after which a lease is returned; 0: all are, as at the stop. */
  readonly idleMs: number;
}

/** Takes the hits to return out of leases, of a bounded number, and drops counters without requests. */
export function takeIdle(
  table: LeaseTable,
  counts: LeaseCounts,
  sweep: Sweep,
): readonly OwnOperation[] {
  const returns: OwnOperation[] = [];
  table.drop((counter) => {
    if (returns.length === MAX_RETURNS) return false;
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
): OwnOperation | undefined {
  const { lease } = counter;
  if (lease === undefined) return undefined;
  const { windowEndSeconds } = lease.increment;
  if (windowEndSeconds <= nowSeconds) {
    counts.stranded += lease.finish('window');
    counter.lease = undefined;
    return undefined;
  }
  // Hits of its refill would be idle too.
  if (lease.isRefilling || nowMs - lease.usedMs < idleMs) return undefined;
  if (lease.unspent === 0) {
    counter.lease = undefined;
    return undefined;
  }
  if (windowEndSeconds - nowSeconds <= LEAST_SECONDS) return undefined;
  return { kind: 'return', lease, size: lease.empty() };
}
