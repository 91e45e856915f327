import { StoreError } from '../../../src/core/errors';
import type { CounterBatch, CounterReply, Counters, Increment } from '../../../src/core/ports';
import type { Random } from '../../fuzz/random';
import type { Ledger } from './ledger';
import type { VirtualClock } from './virtual-clock';

/** How an instance reaches the store. */
export interface LinkOptions {
  readonly roundTripMs: number;
  readonly timeoutMs: number;
  /** One of so many batches is lost on its way there, as many on their way back; 0: none. */
  readonly lossOneIn: number;
  readonly isOrdered: boolean;
}

interface Sent {
  readonly increment: Increment;
  isApplied: boolean;
  /** Hits of a refill that were above the limit when it was counted, and how often the counter had been reset then. */
  overshoot: number;
  resets: number;
  /** The same when its instance crashed; undefined: it lives. */
  resetsAtCrash: number | undefined;
}

/** One instance's way to the store that all of them share; it also notes what is on its way. */
export class PlayedLink implements Counters {
  isAway = false;
  isDead = false;
  calls = 0;
  /** The last counts that came back, by key. */
  readonly #lastCounts = new Map<string, { readonly atMs: number; readonly count: number }[]>();
  readonly onTheirWay = new Set<Sent>();
  readonly #clock: VirtualClock;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #options: LinkOptions;
  #lastThereMs = 0;
  #lastBackMs = 0;
  /** Called with each refill before it is sent. */
  onRefill: (increment: Increment) => void = () => undefined;

  constructor(
    { clock, ledger, random }: { clock: VirtualClock; ledger: Ledger; random: Random },
    options: LinkOptions,
  ) {
    this.#clock = clock;
    this.#ledger = ledger;
    this.#random = random;
    this.#options = options;
  }

  add({ increments }: CounterBatch): Promise<CounterReply> {
    this.calls += 1;
    if (this.isDead) return new Promise(() => undefined);
    for (const increment of increments) if (isRefill(increment)) this.onRefill(increment);
    const { lossOneIn, timeoutMs } = this.#options;
    const fate = lossOneIn === 0 ? 2 : this.#random.below(2 * lossOneIn);
    if (this.isAway) return this.#fail(increments, 1, 'store_unavailable');
    if (fate === 0) return this.#fail(increments, timeoutMs, 'store_timeout');
    const sent = increments.map((increment): Sent => ({
      ...{ increment, isApplied: false, overshoot: 0, resets: 0, resetsAtCrash: undefined },
    }));
    for (const one of sent) this.onTheirWay.add(one);
    return new Promise((resolve, reject) => {
      this.#clock.after(this.#delay('there'), () => {
        const after = sent.map((one) => this.#apply(one));
        if (fate === 1) {
          for (const one of sent) this.#lose(one.increment, true);
          this.#later(timeoutMs, sent, () => {
            reject(new StoreError('store_timeout', 'played'));
          });
          return;
        }
        this.#later(this.#delay('back'), sent, () => {
          sent.forEach((one, at) => {
            this.#note(one.increment.key, after[at] as number);
            if (isRefill(one.increment)) this.#countOvershoot(one, after[at] as number);
          });
          resolve({ after, held: undefined, failures: undefined });
        });
      });
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Nothing comes back any more. */
  die(): void {
    this.isDead = true;
    for (const sent of this.onTheirWay) {
      const { key, limit } = sent.increment;
      sent.resetsAtCrash = this.#ledger.of(key, limit).resets;
      this.#lose(sent.increment, true);
    }
    this.onTheirWay.clear();
  }

  /** Hits that are on their way, of those of which this is true. */
  sum(key: string, isMeant: (hits: number, isApplied: boolean) => boolean): number {
    let sum = 0;
    for (const { increment, isApplied } of this.onTheirWay) {
      const hits = increment.hits as number;
      if (increment.key === key && isMeant(hits, isApplied)) sum += Math.abs(hits);
    }
    return sum;
  }

  /** Refills that are on their way. */
  refills(key: string): number {
    let sum = 0;
    for (const { increment } of this.onTheirWay)
      if (increment.key === key && isRefill(increment)) sum += increment.hits as number;
    return sum;
  }

  /** The lowest of the counts that came since then, and of the last before; undefined: none came. */
  lowestCount(key: string, sinceMs: number): number | undefined {
    const counts = this.#lastCounts.get(key) ?? [];
    const first = counts.findLastIndex(({ atMs }) => atMs < sinceMs);
    const known = counts.slice(Math.max(0, first)).map(({ count }) => count);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  #note(key: string, count: number): void {
    const counts = this.#lastCounts.get(key) ?? [];
    this.#lastCounts.set(key, counts);
    counts.push({ atMs: this.#clock.nowMs, count });
    if (counts.length > 1_000) counts.splice(0, 500);
  }

  #later(delayMs: number, sent: readonly Sent[], act: () => void): void {
    this.#clock.after(delayMs, () => {
      for (const one of sent) this.onTheirWay.delete(one);
      if (!this.isDead) act();
    });
  }

  #apply(sent: Sent): number {
    const { key, hits, limit } = sent.increment;
    sent.isApplied = true;
    const size = hits as number;
    const after = this.#ledger.apply(key, size, limit, this.#clock.nowMs);
    sent.resets = this.#ledger.of(key, limit).resets;
    if (isRefill(sent.increment)) this.#countOvershoot(sent, after);
    this.#noteOfCrashed(sent);
    return after;
  }

  /** What a crashed instance had sent is counted after a reset that has forgotten what nobody will hear of. */
  #noteOfCrashed({ increment, resets, resetsAtCrash }: Sent): void {
    if (resetsAtCrash === undefined || resetsAtCrash === resets) return;
    const { key, limit, hits } = increment;
    if (isRefill(increment)) this.#lose(increment, true);
    else this.#ledger.of(key, limit).failed += Math.max(0, hits as number);
  }

  /** A refill gets what is left by the limit that is in force when its answer comes: a reload may have lowered it on the way. */
  #countOvershoot(sent: Sent, after: number): void {
    const { key, limit, hits } = sent.increment;
    const one = this.#ledger.of(key, limit);
    if (one.resets !== sent.resets) return;
    const size = hits as number;
    const overshoot = size - Math.max(0, Math.min(one.minLimit - (after - size), size));
    one.overshoot += overshoot - sent.overshoot;
    sent.overshoot = overshoot;
  }

  #fail(
    increments: readonly Increment[],
    afterMs: number,
    code: StoreError['code'],
  ): Promise<never> {
    for (const increment of increments) this.#lose(increment, false);
    return new Promise((_, reject) => {
      this.#clock.after(afterMs, () => {
        if (!this.isDead) reject(new StoreError(code, 'played'));
      });
    });
  }

  /** Nobody will hear of this one. */
  #lose(increment: Increment, isApplied: boolean): void {
    const { key, limit } = increment;
    const hits = increment.hits as number;
    const one = this.#ledger.of(key, limit);
    if (isRefill(increment) && isApplied) one.held += hits;
    if (isReturn(increment) && !isApplied) one.held -= hits;
  }

  #delay(way: 'there' | 'back'): number {
    const { roundTripMs, isOrdered } = this.#options;
    const { nowMs } = this.#clock;
    const delayMs = (roundTripMs * (50 + this.#random.below(100))) / 200;
    if (!isOrdered) return delayMs;
    const last = way === 'there' ? this.#lastThereMs : this.#lastBackMs;
    const atMs = Math.max(last, nowMs + delayMs);
    if (way === 'there') this.#lastThereMs = atMs;
    else this.#lastBackMs = atMs;
    return atMs - nowMs;
  }
}

function isRefill({ isExact }: Increment): boolean {
  return isExact === true;
}

/** What a lease gives back keeps nothing of a request. */
function isReturn({ hits, entries }: Increment): boolean {
  return hits < 0 && entries.length === 0;
}
