import type { BatchStats } from '../../core/decision/batch-stats';
import { Histogram, quantile, samplesSince } from '../histogram';

/** Outcomes of requests other than the store's answer. */
const EXCEPTIONS = [
  'unknownDomains',
  'serviceErrors',
  'storeErrors',
  'storeTimeouts',
  'breakerOpen',
  'answeredLocally',
  // The caller left before the decision.
  'abandoned',
  // SHADOW_MODE let it pass.
  'globalShadow',
] as const;
type Exception = (typeof EXCEPTIONS)[number];
export type ExceptionCounts = Readonly<Record<Exception, number>>;

/** The count of each exception. */
export function exceptionCounts(of: (exception: Exception) => number): Record<Exception, number> {
  const counts = EXCEPTIONS.map((exception) => [exception, of(exception)]);
  return Object.fromEntries(counts) as Record<Exception, number>;
}

export interface LatencyQuantiles {
  readonly p50: number;
  readonly p99: number;
}

const NONE = { requests: 0, batches: 0, largest: 0, ...exceptionCounts(() => 0) };

/** Sums over batches, with a handful of additions for each. */
export class BatchFigures {
  #sums = { ...NONE };
  readonly #storeTimes = new Histogram();
  #storeBefore = this.#storeTimes.counts.slice();

  decided(requests: number, batchStats: BatchStats): void {
    const sums = this.#sums;
    sums.requests += requests;
    sums.batches += 1;
    if (requests > sums.largest) sums.largest = requests;
    for (const { descriptors } of batchStats.unmet.unknownDomains)
      sums.unknownDomains += descriptors;
    sums.serviceErrors += batchStats.serviceErrors;
    sums.storeErrors += batchStats.storeErrors;
    sums.storeTimeouts += batchStats.storeTimeouts;
    sums.breakerOpen += batchStats.breakerOpen;
    sums.answeredLocally += batchStats.answeredLocally;
    sums.abandoned += batchStats.abandoned;
    sums.globalShadow += batchStats.globalShadowMode;
  }

  asked(milliseconds: number): void {
    this.#storeTimes.record(milliseconds, 1);
  }

  /** The sums since the last call; `store` is undefined where it answered no batch, and none timed out. */
  take() {
    const { counts } = this.#storeTimes;
    const totals = { ...this.#sums, store: quantilesSince(counts, this.#storeBefore) };
    this.#sums = { ...NONE };
    this.#storeBefore = counts.slice();
    return totals;
  }
}

/** Quantiles of the durations in `counts` beyond those in `before`; undefined when there are none. */
export function quantilesSince(
  counts: Float64Array,
  before: Float64Array | undefined,
): LatencyQuantiles | undefined {
  const samples = samplesSince(counts, before);
  if (samples.length === 0) return undefined;
  return { p50: quantile(samples, 0.5), p99: quantile(samples, 0.99) };
}
