import type { StoreError } from '../../core/errors';
import type { CounterReply, Increment } from '../../core/ports';
import type { HitLease } from './hit-lease';
import type { LeaseCounts } from './lease-counts';

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
