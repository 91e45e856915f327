import type { StoreError } from '../../core/errors';
import type { Increment } from '../../core/ports';
import type { Count } from '../count';
import { toKeptKey } from '../kept-key';
import {
  applyHits,
  bytesOfCounter,
  classify,
  findCounter,
  usageQuartileOf,
  type Counter,
  type WindowBucket,
} from './window-bucket';
import { createWindowBuckets } from './window-buckets';

/** Makes room for one counter of so many bytes; false when there is none. */
export type MakeRoom = (bytes: number) => boolean;

/** The counters of fixed windows: whole windows of them are dropped when they end. */
export class WindowCounters {
  readonly buckets = createWindowBuckets();
  readonly #makeRoom: MakeRoom;

  constructor(makeRoom: MakeRoom) {
    this.#makeRoom = makeRoom;
  }

  countOf({ key, windowEndSeconds }: Increment): number {
    return findCounter(this.buckets.at(windowEndSeconds), toKeptKey(key))?.count ?? 0;
  }

  /** The count after so many hits; undefined: no room for a new counter. */
  add(increment: Increment, hits: Count, nowSeconds: number): number | StoreError | undefined {
    const bucket = this.buckets.at(increment.windowEndSeconds);
    const key = toKeptKey(increment.key);
    const counter = findCounter(bucket, key) ?? this.#create(bucket, key, increment, nowSeconds);
    if (counter === undefined) return undefined;
    const overflow = applyHits(counter, hits);
    if (overflow !== undefined) return overflow;
    counter.limit = increment.limit;
    classify(bucket, counter);
    return counter.count;
  }

  find(key: string): Counter | undefined {
    const kept = toKeptKey(key);
    for (const bucket of this.buckets.all()) {
      const counter = findCounter(bucket, kept);
      if (counter !== undefined) return counter;
    }
    return undefined;
  }

  #create(
    bucket: WindowBucket,
    key: string,
    { limit, ttlSeconds }: Increment,
    nowSeconds: number,
  ): Counter | undefined {
    if (!this.#makeRoom(bytesOfCounter(key))) return undefined;
    const counter: Counter = {
      key,
      count: 0,
      exact: undefined,
      limit,
      expiresAtSeconds: Math.ceil(nowSeconds) + ttlSeconds,
      usageQuartile: usageQuartileOf(0, limit),
      previous: undefined,
      next: undefined,
    };
    this.buckets.add(bucket, counter);
    return counter;
  }
}
