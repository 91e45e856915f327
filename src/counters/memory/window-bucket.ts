import { StoreError } from '../../core/errors';
import { addHits, type Count } from '../count';
import { bytesOfText } from '../kept-key';
import { append, unlink, type LinkedList } from './linked-list';
import { createShards, shardOf, type Shards } from './shards';

/** `_` and the ten digits of the window start: they are equal in a bucket. */
const KEY_END = 12;

/** Counters are listed by the used quarter of their limit, so that the least used are evicted first. */
export const USAGE_QUARTILES = 4;

/** Of a counter that has reached its limit: it is in no list, so that it is never evicted. */
const AT_LIMIT = USAGE_QUARTILES;

/** Bytes that V8 takes for a counter besides the characters of its key, measured: an object, a string and a map entry. */
const COUNTER_BYTES = 160;

/** One live counter. */
export interface LiveCounter {
  readonly key: string;
  count: number;
  /** The exact count where a double cannot hold it (above 2^53). */
  exact: bigint | undefined;
  /** Of the last increment. */
  limit: number;
  readonly expiresAtSeconds: number;
  usageQuartile: number;
  previous: LiveCounter | undefined;
  next: LiveCounter | undefined;
}

/** All counters whose windows end at the same second; dropped as a whole, whatever it holds. */
export interface WindowBucket {
  readonly endSeconds: number;
  size: number;
  /** Of its counters, see `bytesOfCounter`. */
  bytes: number;
  readonly shards: Shards<LiveCounter>;
  /** What eviction may take, by usage quartile. */
  readonly evictable: readonly LinkedList<LiveCounter>[];
}

export function createWindowBucket(endSeconds: number): WindowBucket {
  const evictable = Array.from({ length: USAGE_QUARTILES }, () => ({
    first: undefined,
    last: undefined,
  }));
  return { endSeconds, size: 0, bytes: 0, shards: createShards<LiveCounter>(), evictable };
}

/** The most that a counter of this key takes. */
export function bytesOfCounter(key: string): number {
  return COUNTER_BYTES + bytesOfText(key);
}

export function findCounter(bucket: WindowBucket, key: string): LiveCounter | undefined {
  return shardOf(bucket.shards, key, KEY_END).get(key);
}

export function addCounter(bucket: WindowBucket, counter: LiveCounter): void {
  shardOf(bucket.shards, counter.key, KEY_END).set(counter.key, counter);
  bucket.size += 1;
  bucket.bytes += bytesOfCounter(counter.key);
  const list = bucket.evictable[counter.usageQuartile];
  if (list !== undefined) append(list, counter);
}

export function removeCounter(bucket: WindowBucket, counter: LiveCounter): void {
  shardOf(bucket.shards, counter.key, KEY_END).delete(counter.key);
  bucket.size -= 1;
  bucket.bytes -= bytesOfCounter(counter.key);
  const list = bucket.evictable[counter.usageQuartile];
  if (list !== undefined) unlink(list, counter);
}

/** Moves a counter to the list of its quartile after its count or limit has changed. */
export function classify(bucket: WindowBucket, counter: LiveCounter): void {
  const usageQuartile = usageQuartileOf(counter.count, counter.limit);
  if (usageQuartile === counter.usageQuartile) return;
  const from = bucket.evictable[counter.usageQuartile];
  if (from !== undefined) unlink(from, counter);
  counter.usageQuartile = usageQuartile;
  const to = bucket.evictable[usageQuartile];
  if (to !== undefined) append(to, counter);
}

/** A limit of 0 is exceeded by any count, so that evicting such a counter lets no request through. */
export function usageQuartileOf(count: number, limit: number): number {
  if (limit === 0) return 0;
  return count >= limit ? AT_LIMIT : Math.floor((count * USAGE_QUARTILES) / limit);
}

/** Adds hits to a counter, never below 0; an error, and nothing changed, when it would overflow. */
export function applyHits(counter: LiveCounter, hits: Count): StoreError | undefined {
  const sum = addHits(counter.exact ?? counter.count, hits);
  if (sum instanceof StoreError) return sum;
  counter.count = Number(sum);
  counter.exact = sum > Number.MAX_SAFE_INTEGER ? BigInt(sum) : undefined;
  return undefined;
}
