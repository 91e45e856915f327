import { copyOf } from '../platform/copy-of';
import { cleanName, cutMetric, MAX_METRIC_LENGTH } from './names';
import { type Counter, isFlushed, type Series } from './series';

export interface SeriesLimits {
  readonly maxSeries: number;
  /** Called once, with the first series without room. */
  readonly onFull: () => void;
}

export interface CappedSeriesDeps<S extends Series> {
  readonly create: (path: string) => S;
  /** The path of the series that sums those without room. */
  readonly overflowPath: (path: string) => string;
  readonly limits: () => SeriesLimits;
  /** True once an output writes differences: then only a flushed series may be dropped. */
  readonly mustFlush: () => boolean;
  /** Grows with every hit that was counted in an overflow series. */
  readonly overflowed: Counter;
  readonly monotonicMs: () => number;
}

/** Where room is needed, a series without counts for this long is dropped. */
export const IDLE_MS = 600_000;

/** Room for names, in characters per allowed series: long ones count as several. */
const CHARACTERS_PER_SERIES = 256;

/**
 * Series by metric key, a bounded number of them. Those without room are summed in a series whose path contains `overflow`. Nothing
 * is dropped while there is room: a rarely used rule keeps its total.
 */
export class CappedSeries<S extends Series> implements Iterable<S> {
  readonly #deps: CappedSeriesDeps<S>;
  readonly #byPath = new Map<string, S>();
  /** Metric keys whose cleaned path differs from them. Cleared when they take too much room. */
  readonly #byMetric = new Map<string, S>();
  readonly #overflow = new Map<string, S>();
  #characters = 0;
  #metricCharacters = 0;
  /** The last metric key that was in neither map: a key without room recurs. */
  #missed = { metric: '', path: '' };
  #sweptAtMs = -Infinity;
  #isFull = false;

  constructor(deps: CappedSeriesDeps<S>) {
    this.#deps = deps;
  }

  /** The series of a metric key from rules and requests, to add `hits` to. */
  of(metric: string, hits = 1): S {
    return this.#byPath.get(metric) ?? this.#byMetric.get(metric) ?? this.#find(metric, hits);
  }

  /** The series of a metric key, if it has one. */
  peek(metric: string): S | undefined {
    return this.#byPath.get(metric) ?? this.#byMetric.get(metric);
  }

  /** Number of series, without the overflow series. */
  get size(): number {
    return this.#byPath.size;
  }

  *[Symbol.iterator](): Generator<S, void> {
    yield* this.#byPath.values();
    yield* this.#overflow.values();
  }

  #find(metric: string, hits: number): S {
    // Clients can send any number of huge strings: only their beginning is read and kept.
    if (metric.length > MAX_METRIC_LENGTH) return this.of(cutMetric(metric), hits);
    if (metric !== this.#missed.metric)
      this.#missed = { metric: copyOf(metric), path: cleanName(metric) };
    const { path } = this.#missed;
    const found = this.#byPath.get(path) ?? this.#create(path, hits);
    if (path !== metric && found.path === path) this.#remember(metric, found);
    return found;
  }

  #remember(metric: string, series: S): void {
    const { maxSeries } = this.#deps.limits();
    this.#metricCharacters += metric.length;
    const isFull = this.#metricCharacters > maxSeries * CHARACTERS_PER_SERIES;
    if (isFull || this.#byMetric.size >= maxSeries) this.#forgetMetrics(metric.length);
    this.#byMetric.set(copyOf(metric), series);
  }

  #forgetMetrics(characters = 0): void {
    this.#byMetric.clear();
    this.#metricCharacters = characters;
  }

  #create(path: string, hits: number): S {
    if (!this.#hasRoomFor(path)) this.#sweep();
    if (!this.#hasRoomFor(path)) return this.#surplus(path, hits);
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

  #surplus(path: string, hits: number): S {
    if (!this.#isFull) this.#deps.limits().onFull();
    this.#isFull = true;
    this.#deps.overflowed.add(hits);
    const overflowPath = this.#deps.overflowPath(path);
    const known = this.#overflow.get(overflowPath);
    if (known !== undefined) return known;
    const created = this.#deps.create(overflowPath);
    this.#overflow.set(overflowPath, created);
    return created;
  }

  /** Drops series without a change since the previous sweep: at most once in IDLE_MS, for a few milliseconds. */
  #sweep(): void {
    const nowMs = this.#deps.monotonicMs();
    if (nowMs - this.#sweptAtMs < IDLE_MS) return;
    this.#sweptAtMs = nowMs;
    const mayGo = this.#deps.mustFlush() ? isFlushed : () => true;
    for (const [path, series] of this.#byPath) {
      if (series.changedSinceLastCheck() || !mayGo(series)) continue;
      this.#byPath.delete(path);
      this.#characters -= path.length;
    }
    this.#forgetMetrics();
  }
}
