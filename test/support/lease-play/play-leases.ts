import type { Increment } from '../../../src/core/ports';
import { createRandom, type Random } from '../../fuzz/random';
import { increment } from '../increments';
import { SOME_MATCH } from '../rules';
import { Ledger, type CounterLedger } from './ledger';
import { LEASE_TIME_MS, PlayedInstance, type InstanceOptions } from './played-instance';
import { PlayedLink, type LinkOptions } from './played-link';
import { VirtualClock } from './virtual-clock';

/** What a schedule is about; all of it comes from its seed. */
export interface Schedule {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly keys: number;
  /** Asks a second at each of four instances. */
  readonly perSecond: readonly number[];
  readonly durationMs: number;
  /** Of many hits, looks and refunds: one ask of so many. */
  readonly oddOneIn: number;
  /** Crashes, stops, reloads, resets, outages: one so many milliseconds. */
  readonly faultEveryMs: number;
  readonly link: LinkOptions;
  readonly share: number;
}

export interface Played {
  readonly broken: readonly string[];
  readonly decisions: number;
  readonly calls: number;
  /** Batches that were answered without a promise. */
  readonly atOnce: number;
}

const INSTANCES = 4;
const MESSAGE_MS = 30;
const RULE = { ...SOME_MATCH.rule, isLeased: true };

export function scheduleOf(seed: number): Schedule {
  const random = createRandom(seed);
  const roundTripMs = random.pick([0.5, 1, 5, 20, 150]);
  const busy = random.pick([30, 100, 250, 600]);
  return {
    limit: random.pick([4, 10, 60, 200, 1_000, 5_000]),
    windowSeconds: random.pick([1, 2, 10, 3_600]),
    keys: random.pick([1, 1, 2]),
    perSecond: [busy, busy, random.pick([busy, 10]), random.pick([busy, 1])],
    durationMs: random.pick([600, 1_500, 2_500]),
    oddOneIn: random.pick([5, 20, 1_000]),
    faultEveryMs: random.pick([60, 300, 1_000_000]),
    link: {
      roundTripMs,
      timeoutMs: 2 * roundTripMs + 50,
      lossOneIn: random.pick([0, 10, 100]),
      isOrdered: random.oneIn(2),
    },
    share: random.pick([0.5, 0.5, 1]),
  };
}

/** Plays one schedule with the real counters of four instances, and says which sentences of the promise were broken. */
export async function playLeases(schedule: Schedule, seed: number): Promise<Played> {
  const play = new Play(schedule, createRandom(seed ^ 0x5eed));
  return play.run();
}

class Play {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #ledger = new Ledger();
  readonly #instances: PlayedInstance[] = [];
  readonly #old: PlayedInstance[] = [];
  readonly #limits: number[];
  #decisions = 0;
  #isOver = false;

  constructor(schedule: Schedule, random: Random) {
    this.#schedule = schedule;
    this.#random = random;
    this.#limits = new Array<number>(INSTANCES).fill(schedule.limit);
    for (let at = 0; at < INSTANCES; at += 1) this.#instances.push(this.#open());
  }

  async run(): Promise<Played> {
    const { durationMs, perSecond, faultEveryMs, link } = this.#schedule;
    perSecond.forEach((rate, at) => {
      this.#repeat(1_000 / rate, () => {
        this.#ask(at);
      });
    });
    this.#repeat(faultEveryMs, () => {
      this.#fault();
    });
    const noCheck = () => undefined;
    await this.#clock.runUntil(durationMs, noCheck);
    this.#isOver = true;
    for (const { link: one } of this.#instances) one.isAway = false;
    // All quiet: twice the lease time and a round trip, after what is on its way has come back.
    const settledMs = durationMs + link.timeoutMs + 2 * link.roundTripMs;
    await this.#clock.runUntil(settledMs + 2 * LEASE_TIME_MS + 4 * link.roundTripMs, noCheck);
    this.#checkQuiet();
    const all = [...this.#old, ...this.#instances];
    const sum = (of: (one: PlayedInstance) => number) => all.reduce((so, one) => so + of(one), 0);
    return {
      broken: this.#ledger.broken,
      decisions: this.#decisions,
      calls: sum(({ link: one }) => one.calls),
      atOnce: sum(({ answeredAtOnce }) => answeredAtOnce),
    };
  }

  #open(): PlayedInstance {
    const { link, share } = this.#schedule;
    const shared = { clock: this.#clock, ledger: this.#ledger };
    const options: InstanceOptions = { instances: INSTANCES, minRate: 20, share };
    // A cache may know for so long that a counter is over, from an answer that was on its way for as long.
    const horizonMs = 2 * LEASE_TIME_MS + MESSAGE_MS + 3 * link.roundTripMs + link.timeoutMs;
    const tell = (keys: readonly string[]) => {
      this.#broadcast((one) => {
        one.cache.forgetKeys(keys);
      });
    };
    const opened = new PlayedLink({ ...shared, random: this.#random }, link);
    return new PlayedInstance({ ...shared, link: opened, tell }, options, horizonMs);
  }

  #repeat(everyMs: number, act: () => void): void {
    // From nothing to twice as long: asks come at random.
    this.#clock.after((everyMs * this.#random.below(2_000)) / 1_000, () => {
      if (this.#isOver) return;
      act();
      this.#repeat(everyMs, act);
    });
  }

  /** Tells all instances, each after a time of its own. */
  #broadcast(act: (one: PlayedInstance) => void): void {
    for (const one of [...this.#instances])
      this.#clock.after(this.#random.below(MESSAGE_MS), () => {
        act(one);
      });
  }

  #ask(at: number): void {
    const random = this.#random;
    const { oddOneIn } = this.#schedule;
    const increments: Increment[] = [];
    const asks: { hits: number; place: number; cumulative: number }[] = [];
    const count = random.oneIn(10) ? 1 + random.below(6) : 1;
    for (let index = 0; index < count; index += 1) {
      const hits = random.oneIn(oddOneIn) ? random.pick([0, -1, -3, 2, 5, 20]) : 1;
      const key = this.#key(random.below(this.#schedule.keys));
      const place = increments.findIndex((one) => one.key === key && (one.hits as number) > 0);
      const known = increments[place];
      if (known !== undefined && hits > 0) {
        const cumulative = (known.hits as number) + hits;
        increments[place] = { ...known, hits: cumulative };
        asks.push({ hits, place, cumulative });
      } else {
        asks.push({ hits, place: increments.length, cumulative: hits });
        increments.push(this.#increment(at, key, hits));
      }
    }
    this.#decisions += count;
    const { nowSeconds } = this.#clock;
    this.#instances[at]?.ask({ increments, groupEnds: undefined, nowSeconds }, asks);
  }

  #key(index: number): string {
    const { windowSeconds } = this.#schedule;
    const start = Math.floor(this.#clock.nowSeconds / windowSeconds) * windowSeconds;
    return `played_key_${String(index)}_${String(start)}`;
  }

  #increment(at: number, key: string, hits: number): Increment {
    const limit = this.#limits[at] as number;
    this.#ledger.of(key, limit);
    const start = Number(key.slice(key.lastIndexOf('_') + 1));
    const entries = [{ key: 'played', value: key }];
    const windowEndSeconds = start + this.#schedule.windowSeconds;
    return increment(key, hits, { limit, rule: RULE, entries, windowEndSeconds });
  }

  #fault(): void {
    const at = this.#random.below(INSTANCES);
    const what = this.#random.below(6);
    if (what === 0) this.#crash(at);
    else if (what === 1) this.#stop(at);
    else if (what === 2) this.#reload();
    else if (what === 3) this.#resetAll();
    else this.#outage(at);
  }

  #crash(at: number): void {
    const gone = this.#instances[at] as PlayedInstance;
    for (const [key, one] of this.#ledger.counters) {
      one.held += gone.unspent(key);
      one.failed += gone.pending(key);
    }
    gone.link.die();
    this.#replace(at, gone);
  }

  #stop(at: number): void {
    const gone = this.#instances[at] as PlayedInstance;
    void gone.counters.close();
    this.#replace(at, gone);
  }

  #replace(at: number, gone: PlayedInstance): void {
    this.#old.push(gone);
    this.#instances[at] = this.#open();
  }

  #reload(): void {
    const limit = Math.max(1, Math.floor((this.#schedule.limit * this.#random.below(20)) / 10));
    for (let at = 0; at < INSTANCES; at += 1)
      this.#clock.after(this.#random.below(MESSAGE_MS), () => {
        this.#limits[at] = limit;
      });
  }

  #resetAll(): void {
    const keys = [...this.#ledger.counters.keys()];
    const all = [...this.#old, ...this.#instances];
    for (const key of keys) {
      let out = 0;
      for (const one of all) {
        out += one.unspent(key) + one.pending(key);
        out += one.link.sum(key, (hits, isApplied) => hits > 0 === isApplied);
      }
      this.#ledger.reset(key, out, this.#clock.nowMs);
      // Those that stop hear of it no more: a refill on its way to one may have been dropped by a reset before.
      const stopping = this.#old.filter(({ link }) => !link.isDead);
      const ledger = this.#ledger.counters.get(key) as CounterLedger;
      for (const { link } of stopping) ledger.held += link.refills(key);
    }
    this.#broadcast((one) => {
      for (const key of keys) {
        const ledger = this.#ledger.counters.get(key);
        if (ledger !== undefined) ledger.held += one.unspent(key) + one.link.refills(key);
      }
      one.counters.forgetLeases(keys);
      one.cache.forgetKeys(keys);
    });
  }

  #outage(at: number): void {
    const { link } = this.#instances[at] as PlayedInstance;
    link.isAway = true;
    this.#clock.after(this.#random.below(400), () => {
      link.isAway = false;
    });
  }

  #checkQuiet(): void {
    const { windowSeconds } = this.#schedule;
    if (windowSeconds <= 1) return;
    for (let index = 0; index < this.#schedule.keys; index += 1) {
      const key = this.#key(index);
      const start = Number(key.slice(key.lastIndexOf('_') + 1));
      // What lies unspent in the last second of a window is not given back.
      const isEnding = start + windowSeconds - this.#clock.nowSeconds <= 1.5;
      if (!isEnding && this.#ledger.counters.has(key)) this.#ledger.checkQuiet(key);
    }
  }
}
