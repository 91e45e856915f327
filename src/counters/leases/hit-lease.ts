import type { Increment } from '../../core/ports';
import { copyOf } from '../../platform/copy-of';
import { grantedOf } from './lease-size';

/** Why a lease is over: its window has ended, or what it was charged to is gone. */
type LeaseEnd = 'window' | 'reset';

/**
 * Hits of one counter in one window that the store has been charged for before they are asked for, with what is known of the
 * counter. Plain state: who asks the store is `with-leases.ts`.
 */
export class HitLease {
  /** The increment with which hits are charged and given back, under the limit in force; it keeps nothing of a request. */
  asked: Increment;
  /** Hits that may still be spent. */
  unspent = 0;
  /** Hits that were spent and may be given back to it. */
  spent = 0;
  /** What was there after the last refill, or is there since hits were given back: 37 of 120 are left. */
  size = 0;
  isRefilling = false;
  /** When it was asked last, by the monotonic clock. */
  usedMs = 0;
  /** The store's last count, as far as it is within the limit; undefined: not known yet. */
  #count: number | undefined;
  #end: LeaseEnd | undefined;

  constructor(increment: Increment) {
    this.asked = keptOf(increment);
  }

  /** The limit in force: of the last ask. */
  get limit(): number {
    return this.asked.limit;
  }

  /** Undefined: it lives. */
  get end(): LeaseEnd | undefined {
    return this.#end;
  }

  /** Hits that the limit still has for this instance; undefined: not known yet. */
  get remaining(): number | undefined {
    return this.#count === undefined ? undefined : this.limit - this.#count + this.unspent;
  }

  /** The counter as this instance sees it: without what lies unspent here. */
  get after(): number {
    return Math.max(0, (this.#count ?? 0) - this.unspent);
  }

  /** Spends up to so many hits; says how many. */
  spend(hits: number): number {
    const taken = Math.min(hits, this.unspent);
    this.unspent -= taken;
    this.spent += taken;
    return taken;
  }

  /** Takes back up to so many hits that were spent; says how many. */
  takeBack(hits: number): number {
    const taken = Math.min(hits, this.spent);
    this.unspent += taken;
    this.spent -= taken;
    this.size = Math.max(this.size, this.unspent);
    return taken;
  }

  /** Another limit is in force: what is known was cut to that before. Says how many hits lay unspent. */
  changeLimit(increment: Increment): number {
    this.asked = keptOf(increment);
    this.#count = undefined;
    return this.empty();
  }

  /** What the store counts. */
  learn(count: number): void {
    this.#count = Math.min(count, this.limit);
  }

  /** A refill of this size has come; says how many hits of it may be spent, or could be if the lease still lived. */
  refill(size: number, after: number): number {
    const granted = grantedOf(this.limit, after, size);
    if (this.#end !== undefined) return granted;
    this.learn(after);
    this.unspent += granted;
    this.size = this.unspent;
    return granted;
  }

  /** Takes all that lies unspent out of it. */
  empty(): number {
    const left = this.unspent;
    this.unspent = 0;
    return left;
  }

  /** Ends it; says how many hits lay unspent. */
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
