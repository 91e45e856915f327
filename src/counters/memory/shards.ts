/** Several maps, because one that grows to a million keys blocks the process for 90 ms. */
export type Shards<T> = readonly Map<string, T>[];

/** A power of two. */
const SHARDS = 32;

const HASH_SAMPLES = 8;

export function createShards<T>(): Shards<T> {
  return Array.from({ length: SHARDS }, () => new Map<string, T>());
}

/**
 * The map of a key, by samples of all but its last `skipped` characters, in which keys hardly differ. Samples are enough: a poor
 * spread costs a pause, never a wrong count. Reading one makes V8 flatten a joined key, so that it does not keep the strings of its
 * request; shorter ones are flat.
 */
export function shardOf<T>(shards: Shards<T>, key: string, skipped: number): Map<string, T> {
  const step = 1 + Math.floor(key.length / HASH_SAMPLES);
  let hash = 0;
  for (let at = key.length - skipped; at > 0; at -= step)
    hash = (hash * 31 + key.charCodeAt(at)) | 0;
  return shards[hash & (SHARDS - 1)] as Map<string, T>;
}
