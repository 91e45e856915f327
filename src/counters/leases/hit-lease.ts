import type { Increment } from '../../core/ports';
import { copyOf } from '../../platform/copy-of';
import { grantedOf } from './lease-size';

/** Why a lease ended: its window has ended, or the counter that it charged was reset. */
type LeaseEnd = 'window' | 'reset';

/**
 * Hits of one counter in one window that were charged to the store in advance, and what is known of the counter. Plain state:
 * `with-leases.ts` calls the store.
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
