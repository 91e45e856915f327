import type { StoreError } from '../../core/errors';
import type { CounterReply, Increment } from '../../core/ports';
import type { HitLease, LeaseCounts } from './hit-lease';
import type { LeaseTable, WarmCounter } from './lease-table';

/** Sweeps per LEASE_TIME: the delay with which an idle lease is returned. */
export const SWEEPS = 4;

/** A lease without a request for this many lease times is returned, at the latest. */
export const IDLE_TIMES = 2;

/** Leases returned per sweep: a store needs a millisecond for them, and other calls wait no longer. */
export const MAX_RETURNS = 500;

/** In windows that end sooner, returned hits would come too late to be useful. */
const LEAST_SECONDS = 1;

/** The time of a sweep, and which leases it ends. */
interface Sweep {
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

/** An operation of a lease on its own behalf: charging hits to spend later, or returning unspent ones. */
export interface OwnOperation {
  readonly kind: 'refill' | 'return';
  readonly lease: HitLease;
  readonly size: number;
}

/** Requests a refill; a lease has at most one pending. */
export function refillOf(lease: HitLease, size: number): OwnOperation {
  lease.isRefilling = true;
  return { kind: 'refill', lease, size };
}

export function toIncrement({ kind, lease, size }: OwnOperation): Increment {
  return kind === 'refill'
    ? { ...lease.increment, hits: size, isExact: true }
    : { ...lease.increment, hits: -size };
}

/** Applies the reply to a lease's own operation, at index `at` of what was sent. An unknown outcome grants nothing. */
export function settleOwn(
  { kind, lease, size }: OwnOperation,
  reply: CounterReply | StoreError,
  at: number,
  counts: LeaseCounts,
): void {
  const after = afterOf(reply, at, lease.limit + size);
  if (kind === 'return') settleReturn(lease, size, after, counts);
  else settleRefill(lease, size, after, counts);
}

/** The counter after a lease's own operation; `over` where it is known to be over its limit; undefined: unknown. */
function afterOf(reply: CounterReply | StoreError, at: number, over: number): number | undefined {
  if (reply instanceof Error || reply.failures?.has(at) === true) return undefined;
  return reply.knownOverLimit?.[at] === true ? over : reply.after[at];
}

function settleReturn(
  lease: HitLease,
  size: number,
  after: number | undefined,
  counts: LeaseCounts,
): void {
  if (after === undefined) {
    counts.stranded += size;
    return;
  }
  counts.returned += size;
  if (lease.end === undefined) lease.learn(after);
}

function settleRefill(
  lease: HitLease,
  size: number,
  after: number | undefined,
  counts: LeaseCounts,
): void {
  lease.isRefilling = false;
  if (after === undefined) return;
  const granted = lease.refill(size, after);
  counts.granted += granted;
  if (lease.end !== undefined) counts.stranded += granted;
}
