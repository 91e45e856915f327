import { SOME_MATCH } from '../rules';
import type { CounterBatch, Increment } from '../../../src/core/ports';
import { leasedCounters, type LeasedCounters } from './leased-counters';
import { createOverLimitCache, type OverLimitCache } from '../../../src/counters/over-limit-cache';
import { withOverLimitCache } from '../../../src/counters/with-over-limit-cache';
import type { Ledger } from './ledger';
import type { PlayedLink } from './played-link';
import type { VirtualClock } from './virtual-clock';

export const LEASE_TIME_MS = 100;

export interface InstanceOptions {
  readonly instances: number;
  readonly minRate: number;
  readonly share: number;
}

/** One ask, by which increment it is counted and where in it. */
interface PlayedAsk {
  readonly hits: number;
  readonly place: number;
  readonly cumulative: number;
}

/** The real counters of one instance, and what callers are told by it. */
export class PlayedInstance {
  readonly counters: LeasedCounters;
  readonly cache: OverLimitCache;
  readonly link: PlayedLink;
  /** Batches that were answered in the turn in which they came. */
  answeredAtOnce = 0;
  batches = 0;
  /** Hits that callers wait for, by key. */
  readonly #pending = new Map<string, number>();
  /** Hits of the last seconds. */
  readonly #asked: { readonly atMs: number; readonly key: string; readonly hits: number }[] = [];
  readonly #clock: VirtualClock;
  readonly #ledger: Ledger;
  readonly #horizonMs: number;

  constructor(
    {
      clock,
      ledger,
      link,
      tell,
    }: {
      readonly clock: VirtualClock;
      readonly ledger: Ledger;
      readonly link: PlayedLink;
      readonly tell: (keys: readonly string[]) => void;
    },
    options: InstanceOptions,
    horizonMs: number,
  ) {
    this.#clock = clock;
    this.#ledger = ledger;
    this.#horizonMs = horizonMs;
    this.link = link;
    this.cache = createOverLimitCache(
      {},
      { sizeBytes: 1_000_000, leasedSeconds: (2 * LEASE_TIME_MS) / 1_000 },
    );
    const counters = withOverLimitCache(link, this.cache, {
      publishInvalidation: (places) => {
        tell(places.map(({ key }) => key));
      },
    });
    this.counters = leasedCounters(
      {
        plain: link,
        counters,
        clock: () => clock.nowSeconds,
        monotonicMs: () => clock.nowMs,
        wait: (ms) => clock.wait(ms),
      },
      { ...options, timeMs: LEASE_TIME_MS, maxBytes: 1_000_000, sendsApart: false },
    );
    this.counters.run$.subscribe();
    link.onRefill = (increment) => {
      this.#checkRefill(increment, options);
    };
  }

  ask(batch: CounterBatch, asks: readonly PlayedAsk[]): void {
    const { increments } = batch;
    this.batches += 1;
    for (const { key, hits } of increments) {
      this.#asked.push({ atMs: this.#clock.nowMs, key, hits: Math.max(0, hits as number) });
      this.#wait(key, Math.abs(hits as number));
    }
    // The store may apply it long before its answer comes.
    for (const { hits, place } of asks) {
      const { key, limit } = increments[place] as Increment;
      if (hits < 0) this.#ledger.of(key, limit).refunded -= hits;
    }
    const done = () => {
      for (const { key, hits } of increments) this.#wait(key, -Math.abs(hits as number));
    };
    const judge = (reply: Awaited<ReturnType<LeasedCounters['add']>>): void => {
      done();
      for (const ask of asks) {
        const increment = increments[ask.place] as Increment;
        if (reply.failures?.has(ask.place) === true) this.#failed(increment, ask);
        else if (reply.knownOverLimit?.[ask.place] === true) this.#refused(increment, 0);
        else this.#judge(increment, ask, reply.after[ask.place] as number);
      }
    };
    const answer = this.counters.add(batch);
    if (!(answer instanceof Promise)) {
      this.answeredAtOnce += 1;
      judge(answer);
      return;
    }
    void answer.then(
      (reply) => {
        if (!this.link.isDead) judge(reply);
      },
      () => {
        done();
        if (this.link.isDead) return;
        for (const ask of asks) this.#failed(increments[ask.place] as Increment, ask);
      },
    );
  }

  /** Hits on lease here. */
  unspent(key: string): number {
    return this.counters.readLease({ key, rule: SOME_MATCH.rule })?.left ?? 0;
  }

  pending(key: string): number {
    return this.#pending.get(key) ?? 0;
  }

  #wait(key: string, hits: number): void {
    this.#pending.set(key, this.pending(key) + hits);
  }

  #failed({ key, limit }: Increment, { hits }: PlayedAsk): void {
    this.#ledger.of(key, limit).failed += Math.abs(hits);
  }

  #judge(increment: Increment, { hits, cumulative }: PlayedAsk, after: number): void {
    const { key, limit, limiter } = increment;
    const later = (increment.hits as number) - cumulative;
    const one = this.#ledger.of(key, limit);
    if (hits < 0) return;
    const { isOver } = limiter.kind.outcome(increment, after, hits, later, 0);
    if (isOver) this.#refused(increment, hits);
    else {
      one.admitted += hits;
      this.#ledger.checkAdmitted(key);
    }
  }

  #refused({ key, limit }: Increment, hits: number): void {
    this.#ledger.of(key, limit).refused += hits;
    this.#ledger.checkRefused(key, limit, this.#clock.nowMs - this.#horizonMs);
  }

  #checkRefill({ key, hits, limit }: Increment, { instances, share }: InstanceOptions): void {
    const { nowMs } = this.#clock;
    const stem = stemOf(key);
    let recent = 0;
    for (const asked of this.#asked)
      if (asked.atMs > nowMs - 2_000 && stemOf(asked.key) === stem) recent += asked.hits;
    // Counts may come in another order than they were made, and an ask of a counter that is cold for a moment is not noted.
    const last = this.link.lowestCount(key, nowMs - this.#horizonMs);
    const remaining = limit - Math.min(last ?? 0, limit) + this.unspent(key);
    const byShare = last === undefined ? Infinity : (share * remaining) / instances;
    this.#ledger.checkSize(key, hits as number, Math.min(Math.ceil(recent), byShare));
    while ((this.#asked[0]?.atMs ?? nowMs) < nowMs - 3_000) this.#asked.shift();
  }
}

function stemOf(key: string): string {
  return key.slice(0, key.lastIndexOf('_'));
}
