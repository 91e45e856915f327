/** The parameters of a lease's size (docs/leases.md). */
export interface LeaseSizing {
  /** LEASE_TIME: a lease covers the hits of this time, or of four round trips when those take longer. */
  readonly timeMs: number;
  /** LEASE_SHARE: the share of the remaining hits that all instances together may lease. */
  readonly share: number;
  /** Instances that count in the same store, including this one. */
  readonly instances: number;
}

/** What an instance knows of a counter when it needs a lease. */
export interface LeaseDemand {
  /** Hits of the last second. */
  readonly perSecond: number;
  /** The longest round trip of the last second. */
  readonly roundTripMs: number;
  /** Hits within the limit that the store has not charged yet, plus those unspent here. */
  readonly remaining: number;
  /** Unspent hits of this instance, a part of `remaining`. */
  readonly unspent: number;
}

/** A smaller lease saves no store call. */
const LEAST_SIZE = 2;

const LONGEST_MS = 1_000;

/** Hits to lease now; 0: none, each hit is counted by itself. */
export function leaseSize(
  { perSecond, roundTripMs, remaining, unspent }: LeaseDemand,
  { timeMs, share, instances }: LeaseSizing,
): number {
  const spanMs = Math.min(Math.max(timeMs, 4 * roundTripMs), LONGEST_MS);
  const wanted = Math.ceil((perSecond * spanMs) / 1_000);
  // Includes the unspent hits: refills in close succession take no more than a single late one.
  const size = Math.min(wanted, Math.floor((remaining * share) / instances) - unspent);
  return size < LEAST_SIZE ? 0 : size;
}

/** Whether the unspent hits would run out before a refill requested next could arrive. */
export function isLow({
  unspent,
  perSecond,
  roundTripMs,
}: Omit<LeaseDemand, 'remaining'>): boolean {
  return unspent === 0 || unspent < (perSecond * 2 * roundTripMs) / 1_000;
}

/** The hits of a refill that are within the limit; `after`: the counter after them. */
export function grantedOf(limit: number, after: number, size: number): number {
  return Math.max(0, Math.min(limit - (after - size), size));
}
