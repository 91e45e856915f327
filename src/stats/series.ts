import { FIGURES, type Figure, type Figures } from '../core/decision/figures';
import { GROUPS, type SeriesGroup } from './series-groups';

/** A total that only grows, exact to 2^53. A class, so that a hundred thousand of them stay small. */
export class Counter {
  value = 0;
  /** The part that a push output has written; the rest is the next difference. */
  flushedValue = 0;

  add(by: number): void {
    this.value += by;
  }
}

/** Counters of one rule or domain, which requests can create any number of; or one that code names. */
export interface Series {
  readonly group: SeriesGroup;
  /** Its place among those of its group: `shop.user_ann`, or the name that code gave. */
  readonly path: string;
  /** The counter of `group.figures[index]`; undefined until it counts. */
  at(index: number): Counter | undefined;
  /** Adds to this counter. */
  grow(index: number, by: number): void;
  /** Whether it counted since the last call. */
  changedSinceLastCheck(): boolean;
}

/** The counters of one metric key; one is created by its first count. Fields, since there may be a hundred thousand. */
export class RuleSeries implements Series, Record<Figure, Counter | undefined> {
  readonly path: string;
  readonly group = GROUPS.rules;
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

  grow(index: number, by: number): void {
    const figure = FIGURES[index]?.[0];
    if (figure !== undefined) this[figure] = grown(this[figure], by);
  }

  /** Every count of a rule is a hit too, added or refunded. */
  changedSinceLastCheck(): boolean {
    const hits = (this.totalHits?.value ?? 0) + (this.totalNegativeHits?.value ?? 0);
    const changed = hits !== this.#seen;
    this.#seen = hits;
    return changed;
  }
}

/** A series of one figure. */
export class FigureSeries implements Series {
  readonly path: string;
  readonly group: SeriesGroup;
  readonly counter = new Counter();
  #seen = 0;

  constructor(group: SeriesGroup, path: string) {
    this.path = path;
    this.group = group;
  }

  add(by: number): void {
    this.counter.add(by);
  }

  at(index: number): Counter | undefined {
    return index === 0 ? this.counter : undefined;
  }

  grow(_index: number, by: number): void {
    this.counter.add(by);
  }

  changedSinceLastCheck(): boolean {
    const changed = this.counter.value !== this.#seen;
    this.#seen = this.counter.value;
    return changed;
  }
}

/** Whether an output has written all its counts. */
export function isFlushed(series: Series): boolean {
  return series.group.figures.every((_, index) => {
    const counter = series.at(index);
    return counter === undefined || counter.flushedValue === counter.value;
  });
}

function grown(counter: Counter | undefined, by: number): Counter | undefined {
  if (by === 0) return counter;
  const one = counter ?? new Counter();
  one.add(by);
  return one;
}
