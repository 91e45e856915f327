import { bytesOfText } from '../kept-key';
import { append, unlink, type ShareList } from './share-list';

/** A power of two. */
const SHARDS = 32;

/** The hash passes over `_` and the ten digits of the window start: they are equal in a bucket. */
const VALUE_END = 12;
const HASH_SAMPLES = 8;

/** Counters are kept apart by the used quarter of their limit, so that the least used go first. */
export const SHARE_CLASSES = 4;

/** The class of a counter that has reached its limit: in no list, so that eviction cannot see it. */
const BLOCKED = SHARE_CLASSES;

/** What V8 takes for a counter besides the characters of its key, measured: an object, a text and a place in a map. */
const COUNTER_BYTES = 160;

/** One live counter. */
export interface Counter {
  readonly key: string;
  count: number;
  /** The count to the last digit where a double cannot hold it (above 2^53). */
  exact: bigint | undefined;
  /** The limit that the last increment named. */
  limit: number;
  readonly expiresAtSeconds: number;
  shareClass: number;
  previous: Counter | undefined;
  next: Counter | undefined;
}

/** All counters whose windows end at the same second; dropped as a whole, whatever it holds. */
export interface WindowBucket {
  readonly endSeconds: number;
  size: number;
  /** What its counters take, see `bytesOfCounter`. */
  bytes: number;
  /** Several maps, because one that grows to a million keys stops the process for 90 ms meanwhile. */
  readonly shards: readonly Map<string, Counter>[];
  /** What eviction may take, by share class. */
  readonly evictable: readonly ShareList<Counter>[];
}

export function createWindowBucket(endSeconds: number): WindowBucket {
  const evictable = Array.from({ length: SHARE_CLASSES }, () => ({
    first: undefined,
    last: undefined,
  }));
  const shards = Array.from({ length: SHARDS }, () => new Map<string, Counter>());
  return { endSeconds, size: 0, bytes: 0, shards, evictable };
}

/** The most that a counter of this key takes. */
export function bytesOfCounter(key: string): number {
  return COUNTER_BYTES + bytesOfText(key);
}

export function findCounter(bucket: WindowBucket, key: string): Counter | undefined {
  return shardOf(bucket, key).get(key);
}

export function addCounter(bucket: WindowBucket, counter: Counter): void {
  shardOf(bucket, counter.key).set(counter.key, counter);
  bucket.size += 1;
  bucket.bytes += bytesOfCounter(counter.key);
  const list = bucket.evictable[counter.shareClass];
  if (list !== undefined) append(list, counter);
}

export function removeCounter(bucket: WindowBucket, counter: Counter): void {
  shardOf(bucket, counter.key).delete(counter.key);
  bucket.size -= 1;
  bucket.bytes -= bytesOfCounter(counter.key);
  const list = bucket.evictable[counter.shareClass];
  if (list !== undefined) unlink(list, counter);
}

/** Moves a counter to the list of its share after its count or limit has changed. */
export function classify(bucket: WindowBucket, counter: Counter): void {
  const shareClass = shareClassOf(counter.count, counter.limit);
  if (shareClass === counter.shareClass) return;
  const from = bucket.evictable[counter.shareClass];
  if (from !== undefined) unlink(from, counter);
  counter.shareClass = shareClass;
  const to = bucket.evictable[shareClass];
  if (to !== undefined) append(to, counter);
}

/** A limit of 0 is over whatever the count is, so that forgetting such a counter frees nobody. */
export function shareClassOf(count: number, limit: number): number {
  if (limit === 0) return 0;
  return count >= limit ? BLOCKED : Math.floor((count * SHARE_CLASSES) / limit);
}

/**
 * Samples of the key are enough: a poor spread costs a pause, never a wrong count. Reading one makes V8 give a joined key
 * characters of its own, so that it does not keep the texts of its request; shorter ones always have them.
 */
function shardOf({ shards }: WindowBucket, key: string): Map<string, Counter> {
  const step = 1 + Math.floor(key.length / HASH_SAMPLES);
  let hash = 0;
  for (let at = key.length - VALUE_END; at > 0; at -= step)
    hash = (hash * 31 + key.charCodeAt(at)) | 0;
  return shards[hash & (SHARDS - 1)] as Map<string, Counter>;
}
