import { copyOf } from '../platform/copy-of';
import type { Counter } from './counter';
import { cleanName, MAX_METRIC_LENGTH } from './names';
import type { Series } from './series';

/** What the series of one kind share: how many there may be, and what is said when there are more. */
export interface SeriesLimits {
  readonly maxSeries: number;
  /** Called once, with the first series for which there was no room. */
  readonly onFull: () => void;
}

export interface CappedSeriesDeps<S extends Series> {
  readonly create: (path: string) => S;
  /** The path of the series that takes the surplus, for a metric that has no room. */
  readonly overflowPath: (path: string) => string;
  readonly limits: () => SeriesLimits;
  /** True while an output remembers what it has told: then only what was told may go. */
  readonly isTold: () => boolean;
  /** Grows with everything that was counted in an overflow series. */
  readonly overflowed: Counter;
  readonly monotonicMs: () => number;
}

/** Where room is needed, a series that counted nothing for so long makes some. */
export const IDLE_MS = 600_000;

/** Room for names, in characters for each series that is allowed: long ones count as several. */
const CHARACTERS_PER_SERIES = 256;

/**
 * Series by metric key, a bounded number of them. What finds no room is summed in a series whose path
 * says `overflow`. Nothing is dropped while there is room: a rule that is seldom used keeps its total.
 */
export class CappedSeries<S extends Series> implements Iterable<S> {
  readonly #deps: CappedSeriesDeps<S>;
  readonly #byPath = new Map<string, S>();
  /** Metric keys that are not clean, and so go by another path. Forgotten when they are too many. */
  readonly #byMetric = new Map<string, S>();
  readonly #overflow = new Map<string, S>();
  #metricCharacters = 0;
  #characters = 0;
  #sweptAtMs = -Infinity;
  #isFull = false;

  constructor(deps: CappedSeriesDeps<S>) {
    this.#deps = deps;
  }

  /** The series of a metric key as it came from rules and requests. */
  of(metric: string): S {
    return this.#byPath.get(metric) ?? this.#byMetric.get(metric) ?? this.#find(metric);
  }

  /** How many there are, without those of the surplus. */
  get size(): number {
    return this.#byPath.size;
  }

  *[Symbol.iterator](): Generator<S, void> {
    yield* this.#byPath.values();
    yield* this.#overflow.values();
  }

  #find(metric: string): S {
    const path = cleanName(metric);
    const found = this.#byPath.get(path) ?? this.#create(path);
    // Never remembered by a huge text, since a caller can send any number of those.
    if (path !== metric && found.path === path && metric.length <= MAX_METRIC_LENGTH) {
      this.#remember(metric, found);
    }
    return found;
  }

  #remember(metric: string, found: S): void {
    const { maxSeries } = this.#deps.limits();
    this.#metricCharacters += metric.length;
    const isLarge = this.#metricCharacters > maxSeries * CHARACTERS_PER_SERIES;
    if (isLarge || this.#byMetric.size >= maxSeries) {
      this.#byMetric.clear();
      this.#metricCharacters = metric.length;
    }
    this.#byMetric.set(copyOf(metric), found);
  }

  #create(path: string): S {
    if (!this.#hasRoomFor(path)) this.#sweep();
    if (!this.#hasRoomFor(path)) return this.#surplus(path);
    const created = this.#deps.create(path);
    this.#byPath.set(path, created);
    this.#characters += path.length;
    return created;
  }

  #hasRoomFor(path: string): boolean {
    const { maxSeries } = this.#deps.limits();
    const characters = this.#characters + path.length;
    return this.#byPath.size < maxSeries && characters <= maxSeries * CHARACTERS_PER_SERIES;
  }

  #surplus(path: string): S {
    if (!this.#isFull) this.#deps.limits().onFull();
    this.#isFull = true;
    this.#deps.overflowed.add(1);
    const overflowPath = this.#deps.overflowPath(path);
    const known = this.#overflow.get(overflowPath);
    if (known !== undefined) return known;
    const created = this.#deps.create(overflowPath);
    this.#overflow.set(overflowPath, created);
    return created;
  }

  /** Drops what stood still since the sweep before: at most once in a while, a few milliseconds then. */
  #sweep(): void {
    const nowMs = this.#deps.monotonicMs();
    if (nowMs - this.#sweptAtMs < IDLE_MS) return;
    this.#sweptAtMs = nowMs;
    const mayGo = this.#deps.isTold() ? isAllTold : () => true;
    for (const [path, series] of this.#byPath) {
      if (series.hasMoved() || !mayGo(series)) continue;
      this.#byPath.delete(path);
      this.#characters -= path.length;
    }
    this.#byMetric.clear();
    this.#metricCharacters = 0;
  }
}

function isAllTold(series: Series): boolean {
  return series.stats.every((_, index) => {
    const counter = series.at(index);
    return counter === undefined || counter.told === counter.value;
  });
}
