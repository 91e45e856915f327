import {
  addCounter,
  bytesOfCounter,
  createWindowBucket,
  removeCounter,
  type LiveCounter,
  type WindowBucket,
} from './window-bucket';

/** All live counters, grouped by the end of their window, soonest first. */
export interface WindowBuckets {
  readonly liveKeys: number;
  /** An upper bound of what they take. */
  readonly bytes: number;
  at(endSeconds: number): WindowBucket;
  add(bucket: WindowBucket, counter: LiveCounter): void;
  remove(bucket: WindowBucket, counter: LiveCounter): void;
  /** Drops every window that has ended: constant work per window, whatever it holds. */
  dropEnded(nowSeconds: number): void;
  /** Forgets a counter of which so many quarters of its limit are used; false when there is none. */
  evictOne(quartile: number): boolean;
  all(): readonly WindowBucket[];
  counters(): IterableIterator<LiveCounter>;
  /** Counters whose window has not ended, each with that end. */
  withEnds(nowSeconds: number): IterableIterator<readonly [LiveCounter, endSeconds: number]>;
  clear(): void;
}

export function createWindowBuckets(): WindowBuckets {
  const byEnd = new Map<number, WindowBucket>();
  let ordered: readonly WindowBucket[] = [];
  let latest: WindowBucket | undefined;
  let liveKeys = 0;
  let bytes = 0;

  const open = (endSeconds: number): WindowBucket => {
    const bucket = createWindowBucket(endSeconds);
    byEnd.set(endSeconds, bucket);
    ordered = [...ordered, bucket].sort((a, b) => a.endSeconds - b.endSeconds);
    return bucket;
  };

  const remove = (bucket: WindowBucket, counter: LiveCounter): void => {
    removeCounter(bucket, counter);
    liveKeys -= 1;
    bytes -= bytesOfCounter(counter.key);
  };

  return {
    get liveKeys() {
      return liveKeys;
    },
    get bytes() {
      return bytes;
    },
    at(endSeconds) {
      if (latest?.endSeconds === endSeconds) return latest;
      latest = byEnd.get(endSeconds) ?? open(endSeconds);
      return latest;
    },
    add(bucket, counter) {
      addCounter(bucket, counter);
      liveKeys += 1;
      bytes += bytesOfCounter(counter.key);
    },
    remove,
    dropEnded(nowSeconds) {
      while (ordered[0] !== undefined && ordered[0].endSeconds <= nowSeconds) {
        liveKeys -= ordered[0].size;
        bytes -= ordered[0].bytes;
        byEnd.delete(ordered[0].endSeconds);
        if (latest === ordered[0]) latest = undefined;
        ordered = ordered.slice(1);
      }
    },
    evictOne(quartile) {
      for (const bucket of ordered) {
        const counter = bucket.evictable[quartile]?.first;
        if (counter === undefined) continue;
        remove(bucket, counter);
        return true;
      }
      return false;
    },
    all: () => ordered,
    *counters() {
      for (const { shards } of ordered) {
        for (const shard of shards) yield* shard.values();
      }
    },
    *withEnds(nowSeconds) {
      for (const { endSeconds, shards } of ordered) {
        if (endSeconds <= nowSeconds) continue;
        for (const shard of shards) {
          for (const counter of shard.values()) yield [counter, endSeconds];
        }
      }
    },
    clear() {
      byEnd.clear();
      ordered = [];
      latest = undefined;
      liveKeys = 0;
      bytes = 0;
    },
  };
}
