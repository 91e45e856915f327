import type { BatchStats } from '../../core/decision/batch-stats';
import { Histogram, quantile, samplesSince } from '../histogram';

/** Requests that went otherwise than by the answer of the store. */
export interface ExceptionCounts {
  readonly unknownDomains: number;
  readonly serviceErrors: number;
  readonly storeErrors: number;
  readonly storeTimeouts: number;
  readonly breakerOpen: number;
  readonly answeredLocally: number;
  /** Decisions whose caller went away before them. */
  readonly abandoned: number;
  /** Requests that SHADOW_MODE let through. */
  readonly globalShadow: number;
}

/** How batches went since they were last taken. */
export interface BatchTotals extends ExceptionCounts {
  readonly requests: number;
  readonly batches: number;
  readonly largest: number;
  /** Milliseconds until the store answered a batch, or timed out; undefined when it did neither. */
  readonly store: LatencyQuantiles | undefined;
}

export interface LatencyQuantiles {
  readonly p50: number;
  readonly p99: number;
}

/** Sums over batches, a handful of additions for each. */
export class BatchFigures {
  #requests = 0;
  #batches = 0;
  #largest = 0;
  #unknownDomains = 0;
  #serviceErrors = 0;
  #storeErrors = 0;
  #storeTimeouts = 0;
  #breakerOpen = 0;
  #answeredLocally = 0;
  #abandoned = 0;
  #globalShadow = 0;
  readonly #storeTimes = new Histogram();
  #storeBefore = this.#storeTimes.counts.slice();

  decided(requests: number, batchStats: BatchStats): void {
    this.#requests += requests;
    this.#batches += 1;
    if (requests > this.#largest) this.#largest = requests;
    for (const { descriptors } of batchStats.unmet.unknownDomains)
      this.#unknownDomains += descriptors;
    this.#serviceErrors += batchStats.serviceErrors;
    this.#storeErrors += batchStats.storeErrors;
    this.#storeTimeouts += batchStats.storeTimeouts;
    this.#breakerOpen += batchStats.breakerOpen;
    this.#answeredLocally += batchStats.answeredLocally;
    this.#abandoned += batchStats.abandoned;
    this.#globalShadow += batchStats.globalShadowMode;
  }

  asked(milliseconds: number): void {
    this.#storeTimes.record(milliseconds, 1);
  }

  take(): BatchTotals {
    const { counts } = this.#storeTimes;
    const totals: BatchTotals = {
      requests: this.#requests,
      batches: this.#batches,
      largest: this.#largest,
      unknownDomains: this.#unknownDomains,
      serviceErrors: this.#serviceErrors,
      storeErrors: this.#storeErrors,
      storeTimeouts: this.#storeTimeouts,
      breakerOpen: this.#breakerOpen,
      answeredLocally: this.#answeredLocally,
      abandoned: this.#abandoned,
      globalShadow: this.#globalShadow,
      store: quantilesSince(counts, this.#storeBefore),
    };
    this.#requests = this.#batches = this.#largest = this.#unknownDomains = 0;
    this.#serviceErrors = this.#storeErrors = this.#storeTimeouts = 0;
    this.#breakerOpen = this.#answeredLocally = this.#abandoned = this.#globalShadow = 0;
    this.#storeBefore = counts.slice();
    return totals;
  }
}

/** Of the durations in `counts` beyond those in `before`; undefined when there are none. */
export function quantilesSince(
  counts: Float64Array,
  before: Float64Array | undefined,
): LatencyQuantiles | undefined {
  const samples = samplesSince(counts, before);
  if (samples.length === 0) return undefined;
  return { p50: quantile(samples, 0.5), p99: quantile(samples, 0.99) };
}
