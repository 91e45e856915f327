import type { Increment } from '../../core/ports';
import { toKeptKey } from '../kept-key';
import { HitLease } from './hit-lease';
import type { LeaseCounts } from './lease-counts';
import { isLow, leaseSize, type LeaseSizing } from './lease-size';
import { LeaseTable, type LeasePlace, type WarmCounter } from './lease-table';
import { refillOf, type OwnOperation } from './own-operations';
import type { RoundTrips } from './round-trips';
import { WarmKeys } from './warm-keys';

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
