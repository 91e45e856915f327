import type { Increment, Statistics } from '../../core/ports';
import { copyOf } from '../../platform/copy-of';

/** The parameters of a lease's size (docs/stores/leases.md). */
export interface LeaseSizing {
  /** LEASE_TIME: a lease covers the hits of this time, or of four round trips when those take longer. */
  readonly timeMs: number;
  /** LEASE_SHARE: the share of the remaining hits that all instances together may lease. */
  readonly share: number;
  /** Instances that count in the same store, including this one. */
  readonly instances: number;
}

/** What an instance knows of a counter when it needs a lease. */
interface LeaseDemand {
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

/** Why a lease ended: its window has ended, or the counter that it charged was reset. */
type LeaseEnd = 'window' | 'reset';

/**
 * Hits of one counter in one window that were charged to the store in advance, and what is known of the counter. Plain state:
 * `leasing.ts` calls the store.
 */
export class HitLease {
  /** The increment that charges and returns hits, under the current limit; it keeps no request alive. */
  increment: Increment;
  /** Hits that may still be spent. */
  unspent = 0;
  /** Hits that were spent and may be refunded to the lease. */
  spent = 0;
  /** Hits available after the last refill or refund: 37 of 120 are left. */
  size = 0;
  isRefilling = false;
  /** When it was used last, by the monotonic clock. */
  usedMs = 0;
  /** The store's last count, clamped to the limit; undefined: unknown. */
  #count: number | undefined;
  #end: LeaseEnd | undefined;

  constructor(increment: Increment) {
    this.increment = keptOf(increment);
  }

  /** The current limit: that of the last request. */
  get limit(): number {
    return this.increment.limit;
  }

  /** Undefined: it has not ended. */
  get end(): LeaseEnd | undefined {
    return this.#end;
  }

  /** Hits that the limit leaves for this instance; undefined: unknown. */
  get remaining(): number | undefined {
    return this.#count === undefined ? undefined : this.limit - this.#count + this.unspent;
  }

  /** The counter as this instance sees it: without its own unspent hits. */
  get after(): number {
    return Math.max(0, (this.#count ?? 0) - this.unspent);
  }

  /** Spends up to `hits`; returns how many were spent. */
  spend(hits: number): number {
    const taken = Math.min(hits, this.unspent);
    this.unspent -= taken;
    this.spent += taken;
    return taken;
  }

  /** Refunds up to `hits` of those spent; returns how many. */
  takeBack(hits: number): number {
    const taken = Math.min(hits, this.spent);
    this.unspent += taken;
    this.spent -= taken;
    this.size = Math.max(this.size, this.unspent);
    return taken;
  }

  /** Changes the limit: the known count was clamped to the previous one. Returns the number of unspent hits. */
  changeLimit(increment: Increment): number {
    this.increment = keptOf(increment);
    this.#count = undefined;
    return this.empty();
  }

  /** Notes the store's count. */
  learn(count: number): void {
    this.#count = Math.min(count, this.limit);
  }

  /** Adds a refill of this size; returns how many of its hits may be spent, or could be if the lease had not ended. */
  refill(size: number, after: number): number {
    const granted = grantedOf(this.limit, after, size);
    if (this.#end !== undefined) return granted;
    this.learn(after);
    this.unspent += granted;
    this.size = this.unspent;
    return granted;
  }

  /** Removes all unspent hits and returns their number. */
  empty(): number {
    const left = this.unspent;
    this.unspent = 0;
    return left;
  }

  /** Ends it; returns the number of unspent hits. */
  finish(end: LeaseEnd): number {
    this.#end = end;
    return this.empty();
  }
}

const NO_ENTRIES: Increment['entries'] = [];

function keptOf(increment: Increment): Increment {
  return {
    ...increment,
    key: copyOf(increment.key),
    hits: 0,
    entries: NO_ENTRIES,
    shown: undefined,
  };
}

const NAMES = ['granted', 'spent', 'returned', 'stranded'] as const;

/** Counts of leased hits, gathered so that a decision costs no call to the statistics. */
export class LeaseCounts {
  /** Hits granted by refills. */
  granted = 0;
  /** Hits of requests that a lease covered. */
  spent = 0;
  /** Unspent hits that were returned to the store. */
  returned = 0;
  /** Unspent hits that were lost. */
  stranded = 0;
  readonly #statistics: Pick<Statistics, 'count'> | undefined;

  constructor(statistics: Pick<Statistics, 'count'> | undefined) {
    this.#statistics = statistics;
  }

  /** Reports the counts since the last flush to the statistics. */
  flush(): void {
    for (const name of NAMES) {
      if (this[name] === 0) continue;
      this.#statistics?.count(`ratelimit.leases.${name}`, this[name]);
      this[name] = 0;
    }
  }
}
