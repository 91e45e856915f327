/** What the size of a lease depends on (docs/leases.md). */
export interface LeaseSizing {
  /** LEASE_TIME: the hits of so many milliseconds are leased at once, or of four round trips when those take longer. */
  readonly timeMs: number;
  /** LEASE_SHARE: the share of what remains that all instances together may have on lease. */
  readonly share: number;
  /** Instances that count in the same store, this one too. */
  readonly instances: number;
}

/** What an instance knows of a counter when it asks for a lease. */
export interface LeaseDemand {
  /** Hits of the last second. */
  readonly perSecond: number;
  /** The longest of the last second. */
  readonly roundTripMs: number;
  /** Hits within the limit that the store has not charged yet, and what lies unspent here. */
  readonly remaining: number;
  /** Of these what lies unspent here. */
  readonly unspent: number;
}

/** A smaller lease saves no call of the store. */
const LEAST_SIZE = 2;

const LONGEST_MS = 1_000;

/** Hits to lease now; 0: none, each is counted by itself. */
export function leaseSize(
  { perSecond, roundTripMs, remaining, unspent }: LeaseDemand,
  { timeMs, share, instances }: LeaseSizing,
): number {
  const spanMs = Math.min(Math.max(timeMs, 4 * roundTripMs), LONGEST_MS);
  const wanted = Math.ceil((perSecond * spanMs) / 1_000);
  // With what lies here already: refills that follow each other closely take no more than one that is late.
  const size = Math.min(wanted, Math.floor((remaining * share) / instances) - unspent);
  return size < LEAST_SIZE ? 0 : size;
}

/** Whether what is left would be spent before a refill that is asked for next could come. */
export function isLow({
  unspent,
  perSecond,
  roundTripMs,
}: Omit<LeaseDemand, 'remaining'>): boolean {
  return unspent === 0 || unspent < (perSecond * 2 * roundTripMs) / 1_000;
}

/** How many of the hits that a refill has charged are within the limit; `after`: the counter after them. */
export function grantedOf(limit: number, after: number, size: number): number {
  return Math.max(0, Math.min(limit - (after - size), size));
}
