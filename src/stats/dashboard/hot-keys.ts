import { burstOf } from '../../core/kinds/limiter';
import {
  readingOf,
  type CounterBatch,
  type CounterReply,
  type Increment,
  type Random,
} from '../../core/ports';
import { periodOf, periodText } from '../../core/rules/describe-limit';
import { isBudgetLimiter } from '../../core/budgets/budget';
import type { Kind, State } from '../../core/kinds/kind';
import type { RuleLimit } from '../../core/rules/rules';
import { copyOf } from '../../platform/copy-of';
import { budgetStanding, type BudgetStanding } from './live-figures';
import type { CounterPath } from './rule-tree';

type PathOf = (increment: Increment) => CounterPath;

export interface HotKeysDeps {
  readonly random: Random;
  /** The path of a counter, in strings that keep no request alive; called once for each tracked counter. */
  readonly pathOf: PathOf;
}

interface WatchedCounter {
  readonly key: string;
  /** Its key without the prefix and the window: `<domain>_<key>_<value>_`. */
  readonly name: string;
  readonly path: CounterPath;
  /** Changes after a reload, or with a value's own limit. */
  limit: number;
  /** The burst size, if the limit has one; `value` is the part in use. */
  burst: number | undefined;
  /** The period in words: `minute`, `5 minutes`. */
  readonly per: string;
  windowEndSeconds: number;
  /** The store's last value; undefined when only the local cache answered. */
  value: number | undefined;
  /** Whether it was over its limit the last time. */
  isOver: boolean;
  /** Whether leased hits gave the last answer, without the store; undefined: none in its batch did. */
  isLeased: boolean | undefined;
  /** The state of a counter with a budget after its last charge; undefined for all others. */
  after: { readonly rule: RuleLimit; readonly state: State } | undefined;
}

/** A counter with frequent hits now. */
export interface HotKey extends Readonly<Omit<WatchedCounter, 'key' | 'after'>> {
  /** Recent hits per second; never too high while all batches are inspected. */
  readonly perSecond: number;
  /** For a rule with several limits, reservations or blocks: all of it; then the figures above are those of the nearest limit. */
  readonly budget?: BudgetStanding | undefined;
}

interface HotCounter {
  readonly item: WatchedCounter;
  readonly perSecond: number;
}

const PLACES = 512;
/** Longer keys are not watched. Together with the cut paths this bounds the sketch to some megabytes. */
const MAX_KEY_LENGTH = 2_048;
/** Hits of this age have 1/e of the weight of current ones. */
const MEMORY_SECONDS = 2;
/** How long a counter of the previous window is shown. */
const STALE_SECONDS = 2;

/** Increments inspected per second; above that, batches are sampled and weighted. */
const BUDGET = 10_000;

/** The counters with the most hits of the last seconds, from the increments of batches. */
export class HotKeys {
  readonly #keyPrefix: string;
  readonly #random: Random;
  readonly #pathOf: PathOf;
  readonly #items = new FrequentItems<WatchedCounter>(PLACES);
  /** Seconds that the weights cover, with the same decay. */
  #seconds = 0;
  /** One batch in this many is inspected. */
  #stride = 1;
  /** Increments since figures were read: all, and those inspected with this stride. */
  #passed = 0;
  #inspected = 0;

  constructor({ random, pathOf }: HotKeysDeps, keyPrefix: string) {
    this.#keyPrefix = keyPrefix;
    this.#random = random;
    this.#pathOf = pathOf;
  }

  record(batch: CounterBatch, reply: CounterReply): void {
    const { length } = batch.increments;
    this.#passed += length;
    if (this.#stride > 1 && this.#random() * this.#stride >= 1) return;
    this.#inspect(batch, reply);
    this.#inspected += length;
    if (this.#inspected < BUDGET) return;
    this.#stride *= 2;
    this.#inspected = 0;
  }

  #inspect({ increments }: CounterBatch, reply: CounterReply): void {
    const { failures } = reply;
    for (let i = 0; i < increments.length; i++) {
      if (failures?.has(i) === true) continue;
      const increment = increments[i] as Increment;
      const watched = this.#see(increment);
      if (watched === undefined) continue;
      watched.limit = increment.limit;
      watched.burst = burstOf(increment.limiter);
      note(watched, increment, reply, i);
    }
  }

  /** Hits of one increment; refunds have no weight. */
  #see(increment: Increment): WatchedCounter | undefined {
    const { key } = increment;
    if (key.length > MAX_KEY_LENGTH) return undefined;
    const hits = Number(increment.hits) * increment.times;
    if (!(hits > 0)) return this.#items.peek(key);
    return this.#items.add(key, hits * this.#stride, () => this.#toWatched(increment));
  }

  /** Adds elapsed time, before the figures are read. */
  advance(seconds: number): void {
    this.#seconds += seconds;
  }

  /** Decays the counts, after the figures were read. */
  decay(seconds: number): void {
    const share = Math.exp(-seconds / MEMORY_SECONDS);
    this.#items.decay(share);
    this.#seconds *= share;
    this.#stride = Math.max(1, Math.ceil(this.#passed / seconds / BUDGET));
    this.#passed = this.#inspected = 0;
  }

  clear(): void {
    this.#items.clear();
    this.#seconds = this.#passed = this.#inspected = 0;
    this.#stride = 1;
  }

  /** No time was added yet. */
  get isUntimed(): boolean {
    return this.#seconds === 0;
  }

  /** By how many hits per second a figure may be too low. */
  get errorPerSecond(): number {
    return this.#seconds === 0 ? 0 : this.#items.error / this.#seconds;
  }

  /** The hottest, most hits first; windows of one counter are one key, with the value of the latest. */
  top(count: number, nowSeconds: number): readonly HotKey[] {
    const byName = new Map<string, HotCounter>();
    for (const { item, weight } of this.#items) {
      const known = byName.get(item.name);
      const isLatest = known === undefined || known.item.windowEndSeconds <= item.windowEndSeconds;
      const perSecond = (known?.perSecond ?? 0) + weight / this.#seconds;
      byName.set(item.name, { item: isLatest ? item : known.item, perSecond });
    }
    return [...byName.values()]
      .filter(({ item }) => item.windowEndSeconds > nowSeconds - STALE_SECONDS)
      .sort((a, b) => b.perSecond - a.perSecond || (a.item.name < b.item.name ? -1 : 1))
      .slice(0, count)
      .map((one) => toHotKey(one, Math.floor(nowSeconds)));
  }

  /** Copies what it keeps: the sketch outlives the requests. */
  #toWatched(increment: Increment): WatchedCounter {
    const key = copyOf(increment.key);
    return {
      key,
      name: this.#nameOf(increment, key),
      path: this.#pathOf(increment),
      limit: increment.limit,
      burst: burstOf(increment.limiter),
      per: periodText(periodOf(increment.rule)),
      windowEndSeconds: increment.windowEndSeconds,
      value: undefined,
      isOver: false,
      isLeased: undefined,
      after: undefined,
    };
  }

  /** A key ends in its window, or in its period and kind; that of a budget in neither. */
  #nameOf({ limiter }: Increment, key: string): string {
    const end = isBudgetLimiter(limiter) ? undefined : key.lastIndexOf('_') + 1;
    return key.slice(this.#keyPrefix.length, end);
  }
}

function toHotKey({ item, perSecond }: HotCounter, second: number): HotKey {
  const { name, path, value, isOver, isLeased, limit, burst, per, windowEndSeconds, after } = item;
  const figures = { value, isOver, isLeased, limit, burst, per, windowEndSeconds };
  const budget = after && budgetStanding(after.rule, after.state, second);
  return { name, path, perSecond, ...figures, budget };
}

/** Hits in use after the last charge, and whether it was refused. */
function note(
  watched: WatchedCounter,
  increment: Increment,
  reply: CounterReply,
  index: number,
): void {
  watched.isLeased = reply.leased?.[index];
  if (reply.knownOverLimit?.[index] === true && reply.states?.[index] === undefined) {
    // The local cache only knows that it is over.
    watched.isOver = true;
    return;
  }
  const { limiter, hits, windowEndSeconds } = increment;
  const reading = readingOf(increment, reply, index);
  const { used, isOver } = limiter.kind.outcome(
    increment,
    reading,
    Number(hits),
    0,
    windowEndSeconds,
  );
  watched.value = used;
  watched.isOver = isOver;
  watched.windowEndSeconds = windowEndSeconds;
  if (typeof reading === 'number' || !isBudgetLimiter(limiter)) return;
  const state = (limiter.kind as Kind<State>).commit(increment, reading) ?? reading;
  watched.after = { rule: increment.rule, state };
}

/**
 * The heaviest items of an endless stream in a fixed number of slots (Misra and Gries 1982, with weights and purges as in Anderson
 * et al. 2017). Costs one map lookup per addition; where a new item finds no slot, the median of all weights is subtracted from
 * each, which removes about half of them.
 *
 * A reported weight is never too high, and too low by at most `error`, which is itself at most 2/slots of all weight that was
 * added: a heavier item is always reported.
 */
export class FrequentItems<T extends { readonly key: string }> {
  readonly #places: number;
  readonly #byKey = new Map<string, Weighed<T>>();
  readonly #weights: Float64Array;
  #error = 0;

  constructor(places: number) {
    this.#places = places;
    this.#weights = new Float64Array(places);
  }

  /** By how much a weight may be too low. */
  get error(): number {
    return this.#error;
  }

  /** Adds a weight above 0 to an item; `create` makes a new item. Only the item's own `key` is kept, an equal string. */
  add(key: string, weight: number, create: () => T): T {
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      known.weight += weight;
      return known.item;
    }
    if (this.#byKey.size >= this.#places) this.#purge();
    const item = create();
    this.#byKey.set(item.key, { item, weight });
    return item;
  }

  /** The item of a key, if it has a slot. */
  peek(key: string): T | undefined {
    return this.#byKey.get(key)?.item;
  }

  /** Scales all weights, and with them the error, by a share (0 to 1). */
  decay(share: number): void {
    this.#error *= share;
    for (const weighed of this.#byKey.values()) weighed.weight *= share;
  }

  clear(): void {
    this.#byKey.clear();
    this.#error = 0;
  }

  [Symbol.iterator](): Iterator<Weighed<T>> {
    return this.#byKey.values();
  }

  #purge(): void {
    let place = 0;
    for (const { weight } of this.#byKey.values()) this.#weights[place++] = weight;
    const median = this.#weights.sort()[this.#places >> 1] as number;
    this.#error += median;
    for (const [key, weighed] of this.#byKey) {
      weighed.weight -= median;
      if (weighed.weight <= 0) this.#byKey.delete(key);
    }
  }
}

interface Weighed<T> {
  readonly item: T;
  weight: number;
}
