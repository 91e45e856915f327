import { StoreError } from '../../core/errors';
import {
  type Clock,
  type CounterBatch,
  type CounterReply,
  type CounterWriter,
  type Counters,
  type Increment,
  type Statistics,
} from '../../core/ports';
import { toKeyError } from '../count';
import { decideRuns } from '../hold-back';
import { toKeptKey } from '../kept-key';
import { createReplyDraft, fail, holdBack, toReply, type ReplyDraft } from '../reply-draft';
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

/** Default cap on live counters. */
const DEFAULT_MAX_KEYS = 1_000_000;

/** Room for as many keys of 188 characters. */
const DEFAULT_MAX_BYTES = 512 * 1024 * 1024;

/** Counters that one look for those over their limit passes: some milliseconds. */
const MAX_VISITS = 100_000;

/** Interval for dropping ended windows while no batch comes. */
const IDLE_SWEEP_MS = 1_000;

export interface MemoryCountersDeps {
  /** Only for dropping ended windows while no batch comes; decisions use the time of their batch. */
  readonly clock: Clock;
  readonly statistics?: Pick<Statistics, 'gauge' | 'count'>;
}

export interface MemoryCountersOptions {
  /** Cap on live counters. */
  readonly maxKeys?: number;
  /** Cap on their bytes. */
  readonly maxBytes?: number;
}

/** A counter's exact value, and the seconds for which a store would still keep it. */
export interface MemoryEntry {
  readonly value: number | bigint;
  readonly ttlSeconds: number;
}

/** A counter over its limit. */
export interface OverCounter {
  readonly key: string;
  readonly limit: number;
  readonly count: number;
  /** Unix seconds. */
  readonly windowEndSeconds: number;
}

export interface MemoryCounters extends Counters, CounterWriter {
  readonly liveKeys: number;
  /** Counters under their limit that were evicted because of the cap, since the start. */
  readonly evictions: number;
  /** The counter of a key, for tests and tools; undefined when there is none. */
  read(key: string, nowSeconds: number): MemoryEntry | undefined;
  /** Counters over their limit now, up to a number, among the first 100,000; long keys by their digest. */
  readonly listOver: (nowSeconds: number, most: number) => readonly OverCounter[];
  /** Every live counter, soonest end of window first; one of a long key under the digest of it. */
  entries(nowSeconds: number): IterableIterator<readonly [key: string, entry: MemoryEntry]>;
}

/**
 * Counters in this process: exact, immediate, gone when the process ends. Above `maxKeys` or `maxBytes` it
 * evicts counters that are under their limit, the least used first. One that has reached its limit is kept
 * until its window ends; when only such are left, a new key is refused (`CounterReply.failures`).
 */
export function createMemoryCounters(
  { clock, statistics }: MemoryCountersDeps,
  { maxKeys = DEFAULT_MAX_KEYS, maxBytes = DEFAULT_MAX_BYTES }: MemoryCountersOptions = {},
): MemoryCounters {
  const buckets = createWindowBuckets();
  let evictions = 0;
  let closed = false;
  const removeGauge = statistics?.gauge('ratelimit.memory.live_keys', () => buckets.liveKeys);
  const sweep = setInterval(() => {
    buckets.dropEnded(clock());
  }, IDLE_SWEEP_MS).unref();

  const makeRoom = (bytes: number): boolean => {
    while (buckets.liveKeys >= maxKeys || buckets.bytes + bytes > maxBytes) {
      const evicted = buckets.evictOne();
      statistics?.count(evicted ? 'ratelimit.memory.evictions' : 'ratelimit.memory.refused', 1);
      if (!evicted) return false;
      evictions += 1;
    }
    return true;
  };

  const create = (bucket: WindowBucket, key: string, increment: Increment, nowSeconds: number) => {
    if (!makeRoom(bytesOfCounter(key))) return undefined;
    const counter: Counter = {
      key,
      count: 0,
      exact: undefined,
      limit: increment.limit,
      expiresAtSeconds: Math.ceil(nowSeconds) + increment.ttlSeconds,
      usageQuartile: usageQuartileOf(0, increment.limit),
      previous: undefined,
      next: undefined,
    };
    buckets.add(bucket, counter);
    return counter;
  };

  const addOne = (draft: ReplyDraft, index: number, increment: Increment, nowSeconds: number) => {
    const bucket = buckets.at(increment.windowEndSeconds);
    const key = toKeptKey(increment.key);
    const counter = findCounter(bucket, key) ?? create(bucket, key, increment, nowSeconds);
    if (counter === undefined) {
      fail(draft, index, fullError(buckets.liveKeys));
      return;
    }
    const overflow = applyHits(counter, increment.hits);
    if (overflow !== undefined) {
      fail(draft, index, overflow);
      return;
    }
    counter.limit = increment.limit;
    classify(bucket, counter);
    draft.after[index] = counter.count;
  };

  const countOf = ({ key, windowEndSeconds }: Increment): number =>
    findCounter(buckets.at(windowEndSeconds), toKeptKey(key))?.count ?? 0;

  const apply = (batch: CounterBatch): CounterReply => {
    const { increments, runEnds, nowSeconds } = batch;
    buckets.dropEnded(nowSeconds);
    const draft = createReplyDraft(increments.length);
    if (runEnds === undefined) {
      let index = 0;
      for (const increment of increments) addOne(draft, index++, increment, nowSeconds);
    } else {
      decideRuns(batch, {
        countOf,
        add(index, increment) {
          addOne(draft, index, increment, nowSeconds);
        },
        holdBack(index, count) {
          holdBack(draft, index, count);
        },
      });
    }
    return toReply(draft);
  };

  return {
    get liveKeys() {
      return buckets.liveKeys;
    },
    get evictions() {
      return evictions;
    },
    // eslint-disable-next-line @typescript-eslint/require-await -- a throw must become a rejection
    async add(batch) {
      if (closed) throw new StoreError('store_unavailable', 'the memory counters are closed');
      return apply(batch);
    },
    read(key, nowSeconds) {
      for (const bucket of buckets.all()) {
        const counter = findCounter(bucket, toKeptKey(key));
        if (counter !== undefined) return toEntry(counter, nowSeconds);
      }
      return undefined;
    },
    remove(counters) {
      for (const { key, windowEndSeconds } of counters) {
        const bucket = buckets.at(windowEndSeconds);
        const counter = findCounter(bucket, toKeptKey(key));
        if (counter !== undefined) buckets.remove(bucket, counter);
      }
      return Promise.resolve(counters.map(() => undefined));
    },
    set(counters, used, nowSeconds) {
      const setOne = (increment: Increment): StoreError | undefined => {
        const bucket = buckets.at(increment.windowEndSeconds);
        const key = toKeptKey(increment.key);
        const counter = findCounter(bucket, key) ?? create(bucket, key, increment, nowSeconds);
        if (counter === undefined) return fullError(buckets.liveKeys);
        counter.count = used;
        counter.exact = undefined;
        counter.limit = increment.limit;
        classify(bucket, counter);
        return undefined;
      };
      return Promise.resolve(counters.map(setOne));
    },
    listOver(nowSeconds, most) {
      const found: OverCounter[] = [];
      let visits = 0;
      for (const [{ key, limit, count }, windowEndSeconds] of buckets.withEnds(nowSeconds)) {
        visits += 1;
        if (found.length >= most || visits > MAX_VISITS) break;
        if (count > limit) found.push({ key, limit, count, windowEndSeconds });
      }
      return found;
    },
    *entries(nowSeconds) {
      for (const counter of buckets.counters()) {
        yield [counter.key, toEntry(counter, nowSeconds)];
      }
    },
    close() {
      closed = true;
      clearInterval(sweep);
      removeGauge?.();
      buckets.clear();
      return Promise.resolve();
    },
  };
}

function toEntry({ count, exact, expiresAtSeconds }: Counter, nowSeconds: number): MemoryEntry {
  return { value: exact ?? count, ttlSeconds: expiresAtSeconds - nowSeconds };
}

function fullError(liveKeys: number): StoreError {
  return toKeyError(`the memory counters are full: ${String(liveKeys)} keys, all at their limit`);
}
