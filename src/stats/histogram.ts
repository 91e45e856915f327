/** Ratio of a bucket's upper end to its lower one: the value of a bucket is at most 0.5 % off. */
const GROWTH = 1.01;
/** 1 µs to a day and more; durations outside count in the first or the last bucket. */
const LEAST_MS = 0.001;
export const BUCKETS = 2540;

const LOG_GROWTH = Math.log(GROWTH);
const LOG_LEAST = Math.log(LEAST_MS);

/** The bucket of a duration; 0 is for all below `LEAST_MS`. */
function bucketOf(milliseconds: number): number {
  if (!(milliseconds >= LEAST_MS)) return 0;
  const above = Math.floor((Math.log(milliseconds) - LOG_LEAST) / LOG_GROWTH);
  return Math.min(above + 1, BUCKETS - 1);
}

/** The duration that represents a bucket: the geometric middle of its ends; 0 for the first. */
function bucketMilliseconds(bucket: number): number {
  return bucket === 0 ? 0 : LEAST_MS * GROWTH ** (bucket - 0.5);
}

/** How often each duration occurred, in a fixed number of buckets that are 1 % wide. */
export class Histogram {
  readonly counts = new Float64Array(BUCKETS);
  count = 0;
  sumMilliseconds = 0;
  maxMilliseconds = 0;
  #flushedCounts: Float64Array | undefined;
  #takenMilliseconds = 0;

  record(milliseconds: number, times: number): void {
    const bucket = bucketOf(milliseconds);
    this.counts[bucket] = (this.counts[bucket] as number) + times;
    this.count += times;
    this.sumMilliseconds += milliseconds * times;
    if (milliseconds > this.maxMilliseconds) this.maxMilliseconds = milliseconds;
  }

  /** Adds the recordings of another histogram: `times[i]` in bucket `buckets[i]`. */
  add({ buckets, times, sumMilliseconds, maxMilliseconds }: Recorded): void {
    for (const [i, bucket] of buckets.entries()) {
      const more = times[i] ?? 0;
      this.counts[bucket] = (this.counts[bucket] ?? 0) + more;
      this.count += more;
    }
    this.sumMilliseconds += sumMilliseconds;
    this.maxMilliseconds = Math.max(this.maxMilliseconds, maxMilliseconds);
  }

  /** What an output has not written yet. */
  unflushed(): Sample[] {
    return samplesSince(this.counts, this.#flushedCounts);
  }

  /** Notes that an output has written these. */
  flush(samples: readonly Sample[]): void {
    const flushed = (this.#flushedCounts ??= new Float64Array(BUCKETS));
    for (const { bucket, times } of samples) flushed[bucket] = (flushed[bucket] as number) + times;
  }

  /** What was recorded since the last call, with the maximum since the start; undefined: nothing. */
  take(): Recorded | undefined {
    const samples = this.unflushed();
    if (samples.length === 0) return undefined;
    this.flush(samples);
    const before = this.#takenMilliseconds;
    this.#takenMilliseconds = this.sumMilliseconds;
    return {
      buckets: samples.map(({ bucket }) => bucket),
      times: samples.map(({ times }) => times),
      sumMilliseconds: this.sumMilliseconds - before,
      maxMilliseconds: this.maxMilliseconds,
    };
  }
}

/** Occurrences by bucket, only of buckets that are not empty. */
export interface Recorded {
  readonly buckets: readonly number[];
  readonly times: readonly number[];
  readonly sumMilliseconds: number;
  readonly maxMilliseconds: number;
}

/** The occurrences of both. */
export function mergedHistogram(one: Histogram, other: Histogram): Histogram {
  const merged = new Histogram();
  merged.counts.set(one.counts.map((count, bucket) => count + (other.counts[bucket] as number)));
  merged.count = one.count + other.count;
  merged.sumMilliseconds = one.sumMilliseconds + other.sumMilliseconds;
  merged.maxMilliseconds = Math.max(one.maxMilliseconds, other.maxMilliseconds);
  return merged;
}

/** One bucket that is not empty. */
export interface Sample {
  readonly bucket: number;
  readonly milliseconds: number;
  readonly times: number;
}

/** The occurrences in `counts` beyond those in `before`, from the shortest to the longest. */
export function samplesSince(counts: Float64Array, before: Float64Array | undefined): Sample[] {
  const samples: Sample[] = [];
  counts.forEach((count, bucket) => {
    const times = count - (before?.[bucket] ?? 0);
    if (times > 0) samples.push({ bucket, milliseconds: bucketMilliseconds(bucket), times });
  });
  return samples;
}

/** The duration that a share (0 to 1) of the samples does not exceed; 0 when there are none. */
export function quantile(samples: readonly Sample[], share: number): number {
  let left = Math.max(1, Math.ceil(share * countOf(samples)));
  for (const { milliseconds, times } of samples) {
    left -= times;
    if (left <= 0) return milliseconds;
  }
  return 0;
}

export function countOf(samples: readonly Sample[]): number {
  return samples.reduce((count, { times }) => count + times, 0);
}
