import type { Increment } from '../../core/ports';
import { toKeptKey } from '../kept-key';
import { HitLease, isLow, leaseSize, type LeaseSizing, type LeaseCounts } from './hit-lease';
import { LeaseTable, type LeasePlace, type WarmCounter } from './lease-table';
import { refillOf, type OwnOperation } from './own-operations';

const ROUND_TRIP_SPAN_MS = 1_000;

/** The longest round trip to the store in the last second, in milliseconds; it may be remembered for a second more. */
export class RoundTrips {
  #startMs = -Infinity;
  #longest = 0;
  #longestBefore = 0;

  note(roundTripMs: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#longest = Math.max(this.#longest, roundTripMs);
  }

  longest(nowMs: number): number {
    this.#turn(nowMs);
    return Math.max(this.#longest, this.#longestBefore);
  }

  #turn(nowMs: number): void {
    const passedMs = nowMs - this.#startMs;
    if (passedMs < ROUND_TRIP_SPAN_MS) return;
    this.#longestBefore = passedMs < 2 * ROUND_TRIP_SPAN_MS ? this.#longest : 0;
    this.#longest = 0;
    this.#startMs = nowMs;
  }
}

/** Cells of one byte over which keys are hashed: enough for few collisions, half a megabyte in all. */
const CELLS = 262_144;

/** Maximum of a cell. A key with this many hits per second is warm, however many more make a lease worthwhile. */
const MAX_HITS = 255;

/** `_` and the start of a window in Unix seconds, the suffix of keys. */
const WINDOW_LENGTH = 11;

/** Keys mostly differ in these characters; hashing more would cost as much as a map. */
const HASHED_LENGTH = 12;

const SPAN_MS = 1_000;

/**
 * Finds the keys with a minimal rate of hits, as `HitRate` counts them, with rare false positives by collision. Thus rarely used
 * keys, which most are, need no place in a table, however many there are.
 */
export class WarmKeys {
  readonly #leastHits: number;
  #hits = new Uint8Array(CELLS);
  #hitsBefore = new Uint8Array(CELLS);
  #startMs = -Infinity;

  constructor(leastHits: number) {
    this.#leastHits = Math.min(leastHits, MAX_HITS);
  }

  /** Counts hits of a key, and returns whether it is warm. */
  note(key: string, hits: number, nowMs: number): boolean {
    if (nowMs - this.#startMs >= SPAN_MS) this.#turn(nowMs);
    const cell = cellOf(key);
    const now = (this.#hits[cell] as number) + hits;
    this.#hits[cell] = Math.min(now, this.#leastHits);
    const rest = 1 - (nowMs - this.#startMs) / SPAN_MS;
    return now + (this.#hitsBefore[cell] as number) * rest >= this.#leastHits;
  }

  #turn(nowMs: number): void {
    const spent = this.#hitsBefore;
    this.#hitsBefore = this.#hits;
    this.#hits = spent.fill(0);
    if (nowMs - this.#startMs >= 2 * SPAN_MS) this.#hitsBefore.fill(0);
    this.#startMs = nowMs;
  }
}

function cellOf(key: string): number {
  const end = key.length - WINDOW_LENGTH;
  let hash = key.length;
  for (let at = Math.max(0, end - HASHED_LENGTH); at < end; at += 1)
    hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
  return (hash ^ (hash >>> 16)) & (CELLS - 1);
}

export interface LeaseOptions extends LeaseSizing {
  /** LEASE_MIN_RATE: hits per second below which a counter is not leased. */
  readonly minRate: number;
  /** LEASE_MAX_BYTES. */
  readonly maxBytes: number;
}

/** The hits left of a lease. */
export interface LeaseReading {
  readonly left: number;
  readonly of: number;
}

/** The leases of this process: which counter has one, and when it needs a refill. Calls no store. */
export class Leases {
  readonly table: LeaseTable;
  readonly counts: LeaseCounts;
  readonly #options: LeaseOptions;
  readonly #warm: WarmKeys;
  readonly #roundTrips: RoundTrips;

  constructor(
    { roundTrips, counts }: { readonly roundTrips: RoundTrips; readonly counts: LeaseCounts },
    options: LeaseOptions,
  ) {
    this.#options = options;
    this.table = new LeaseTable(options.maxBytes);
    this.#warm = new WarmKeys(options.minRate);
    this.#roundTrips = roundTrips;
    this.counts = counts;
  }

  /** The counter of an increment, where it is used often enough; undefined: it is not leased. */
  find(increment: Increment, nowMs: number): WarmCounter | undefined {
    const { rule, key, hits } = increment;
    if (rule.isLeased !== true || typeof hits !== 'number') return undefined;
    if (hits <= 0) return this.table.get(increment);
    if (!this.#warm.note(key, hits, nowMs)) return undefined;
    const counter = this.table.get(increment) ?? this.table.add(increment, nowMs);
    counter?.rate.add(hits, nowMs);
    return counter;
  }

  /** The lease of its window, which may be empty. A lease of another window is ended. */
  leaseOf(counter: WarmCounter, increment: Increment, nowMs: number): HitLease {
    let { lease } = counter;
    if (lease?.increment.key !== increment.key) {
      if (lease !== undefined) this.counts.stranded += lease.finish('window');
      lease = counter.lease = new HitLease(increment);
    }
    lease.usedMs = nowMs;
    return lease;
  }

  /** The hits to return because the limit has changed. */
  takeReturn(lease: HitLease, increment: Increment): OwnOperation | undefined {
    if (increment.limit === lease.limit) return undefined;
    const size = lease.changeLimit(increment);
    return size === 0 ? undefined : { kind: 'return', lease, size };
  }

  /** The refill that a lease needs now; undefined: none. */
  nextRefill(counter: WarmCounter, lease: HitLease, nowMs: number): OwnOperation | undefined {
    const { remaining, unspent } = lease;
    if (lease.isRefilling || remaining === undefined) return undefined;
    const perSecond = counter.rate.perSecond(nowMs);
    if (perSecond < this.#options.minRate) return undefined;
    const roundTripMs = this.#roundTrips.longest(nowMs);
    const demand = { perSecond, roundTripMs, remaining, unspent };
    if (!isLow(demand)) return undefined;
    const size = leaseSize(demand, this.#options);
    return size === 0 ? undefined : refillOf(lease, size);
  }

  /** Ends the leases of these keys (long ones as digests), whose counters were reset or set; undefined: all. */
  forget(keys: readonly string[] | undefined): void {
    const gone = keys && new Set(keys.map(toKeptKey));
    for (const counter of this.table.counters()) {
      const { lease } = counter;
      if (lease === undefined || gone?.has(toKeptKey(lease.increment.key)) === false) continue;
      this.counts.stranded += lease.finish('reset');
      counter.lease = undefined;
    }
  }

  /** Undefined: this counter has no lease. */
  read(place: LeasePlace): LeaseReading | undefined {
    const lease = this.table.get(place)?.lease;
    if (lease?.increment.key !== place.key || lease.size === 0) return undefined;
    return { left: lease.unspent, of: lease.size };
  }

  /** Number of counters with leased hits. */
  get active(): number {
    let active = 0;
    for (const { lease } of this.table.counters()) if ((lease?.unspent ?? 0) > 0) active += 1;
    return active;
  }
}
