import { FIGURES, type Figure, type Figures } from '../core/decision/figures';

/** A total that only grows, exact to 2^53. A class, so that a hundred thousand of them stay small. */
export class Counter {
  value = 0;
  /** The part that a push output has written; the rest is the next difference. */
  flushedValue = 0;

  add(by: number): void {
    this.value += by;
  }
}

/** Counters of one rule or domain: requests can create any number of them. */
export interface Series {
  /** Between the common prefix of all names and the statistic: `shop.user_ann`. */
  readonly path: string;
  /** The names of its statistics. */
  readonly stats: readonly string[];
  /** The counter of `stats[index]`; undefined until it counts. */
  at(index: number): Counter | undefined;
  /** Whether it counted since the last call. */
  changedSinceLastCheck(): boolean;
}

const RULE_STATS = FIGURES.map(([, stat]) => stat);

/** The counters of one metric key; one is created by its first count. Fields, since there may be a hundred thousand. */
export class RuleSeries implements Series, Record<Figure, Counter | undefined> {
  readonly path: string;
  readonly stats = RULE_STATS;
  totalHits: Counter | undefined;
  totalNegativeHits: Counter | undefined;
  overLimit: Counter | undefined;
  nearLimit: Counter | undefined;
  withinLimit: Counter | undefined;
  shadowMode: Counter | undefined;
  overLimitWithLocalCache: Counter | undefined;
  #seen = 0;

  constructor(path: string) {
    this.path = path;
  }

  add(hits: Figures): void {
    this.totalHits = grown(this.totalHits, hits.totalHits);
    this.totalNegativeHits = grown(this.totalNegativeHits, hits.totalNegativeHits);
    this.overLimit = grown(this.overLimit, hits.overLimit);
    this.nearLimit = grown(this.nearLimit, hits.nearLimit);
    this.withinLimit = grown(this.withinLimit, hits.withinLimit);
    this.shadowMode = grown(this.shadowMode, hits.shadowMode);
    this.overLimitWithLocalCache = grown(
      this.overLimitWithLocalCache,
      hits.overLimitWithLocalCache,
    );
  }

  at(index: number): Counter | undefined {
    const figure = FIGURES[index]?.[0];
    return figure && this[figure];
  }

  /** Every count of a rule is a hit too, added or refunded. */
  changedSinceLastCheck(): boolean {
    const hits = (this.totalHits?.value ?? 0) + (this.totalNegativeHits?.value ?? 0);
    const changed = hits !== this.#seen;
    this.#seen = hits;
    return changed;
  }
}

/** One figure of a domain: descriptors without rules, or without a match. */
export class DomainSeries implements Series {
  readonly path: string;
  readonly stats: readonly [stat: string];
  readonly #descriptors = new Counter();
  #seen = 0;

  constructor(path: string, stats: readonly [stat: string]) {
    this.path = path;
    this.stats = stats;
  }

  add(by: number): void {
    this.#descriptors.add(by);
  }

  at(index: number): Counter | undefined {
    return index === 0 ? this.#descriptors : undefined;
  }

  changedSinceLastCheck(): boolean {
    const changed = this.#descriptors.value !== this.#seen;
    this.#seen = this.#descriptors.value;
    return changed;
  }
}

function grown(counter: Counter | undefined, by: number): Counter | undefined {
  if (by === 0) return counter;
  const one = counter ?? new Counter();
  one.add(by);
  return one;
}
