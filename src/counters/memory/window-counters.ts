import type { StoreError } from '../../core/errors';
import type { Increment } from '../../core/ports';
import type { Steps } from '../../core/steps';
import type { Count } from '../count';
import { findOver } from '../find-over';
import { toKeptKey } from '../kept-key';
import {
  applyHits,
  bytesOfCounter,
  classify,
  findCounter,
  usageQuartileOf,
  type LiveCounter,
  type WindowBucket,
} from './window-bucket';
import { createWindowBuckets } from './window-buckets';

/** A counter over its limit. */
export interface OverCounter {
  readonly key: string;
  readonly limit: number;
  readonly count: number;
  /** Unix seconds. */
  readonly windowEndSeconds: number;
}

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

  find(key: string): LiveCounter | undefined {
    const kept = toKeptKey(key);
    for (const bucket of this.buckets.all()) {
      const counter = findCounter(bucket, kept);
      if (counter !== undefined) return counter;
    }
    return undefined;
  }

  remove({ key, windowEndSeconds }: Increment): void {
    const bucket = this.buckets.at(windowEndSeconds);
    const counter = findCounter(bucket, toKeptKey(key));
    if (counter !== undefined) this.buckets.remove(bucket, counter);
  }

  /** Lets a counter stand at so many hits; false: no room for a new one. */
  set(increment: Increment, used: number, nowSeconds: number): boolean {
    const bucket = this.buckets.at(increment.windowEndSeconds);
    const key = toKeptKey(increment.key);
    const counter = findCounter(bucket, key) ?? this.#create(bucket, key, increment, nowSeconds);
    if (counter === undefined) return false;
    counter.count = used;
    counter.exact = undefined;
    counter.limit = increment.limit;
    classify(bucket, counter);
    return true;
  }

  /** Counters over their limit now, up to a number. */
  listOver(nowSeconds: number, most: number): Steps<readonly OverCounter[]> {
    return findOver(this.buckets.withEnds(nowSeconds), most, ([counter, windowEndSeconds]) => {
      const { key, limit, count } = counter;
      return count > limit ? { key, limit, count, windowEndSeconds } : undefined;
    });
  }

  #create(
    bucket: WindowBucket,
    key: string,
    { limit, ttlSeconds }: Increment,
    nowSeconds: number,
  ): LiveCounter | undefined {
    if (!this.#makeRoom(bytesOfCounter(key))) return undefined;
    const counter: LiveCounter = {
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
