import { type CounterBatch, type Increment, type Statistics } from '../core/ports';

/** Counters known to be over a limit, so that nobody has to ask a store for them. */
export interface OverLimitCache {
  /** Whether the counter is known to be over this increment's limit. */
  isOver(increment: Increment, nowSeconds: number): boolean;
  /** Remembers that a counter is over this increment's limit, until its window ends. */
  remember(increment: Increment, nowSeconds: number): void;
  /** Forgets a counter: hits were given back. */
  forget(increment: Increment): void;
  /** Takes the gauges away. */
  close(): void;
}

export interface OverLimitCacheOptions {
  /** LocalCacheSizeInBytes. */
  readonly sizeBytes: number;
}

interface Entry {
  /** The highest limit that the counter is known to have passed: it has passed every lower one too. */
  limit: number;
  accessSeconds: number;
}

/** What V8 takes for an entry besides the text of its key: two objects and a place in a map. */
const ENTRY_BYTES = 120;

/**
 * Bounded in bytes. Entries of one window are dropped together when it ends; when there is no room, the
 * oldest of the window that ends soonest goes first.
 */
export function createOverLimitCache(
  { statistics }: { readonly statistics?: Pick<Statistics, 'gauge'> },
  { sizeBytes }: OverLimitCacheOptions,
): OverLimitCache {
  const windows = new Map<number, Map<string, Entry>>();
  const count = { hit: 0, miss: 0, expired: 0, evacuated: 0, overwritten: 0 };
  let entries = 0;
  let bytes = 0;
  let accessSeconds = 0;
  let firstEnd = Infinity;

  const drop = (key: string, entry: Entry): void => {
    entries -= 1;
    bytes -= bytesOf(key);
    accessSeconds -= entry.accessSeconds;
  };

  const findFirstEnd = (): void => {
    firstEnd = windows.size === 0 ? Infinity : Math.min(...windows.keys());
  };

  const dropEnded = (nowSeconds: number): void => {
    while (firstEnd <= nowSeconds) {
      const ended = windows.get(firstEnd) ?? new Map<string, Entry>();
      count.expired += ended.size;
      for (const [key, entry] of ended) drop(key, entry);
      windows.delete(firstEnd);
      findFirstEnd();
    }
  };

  const makeRoom = (): void => {
    while (bytes > sizeBytes) {
      const window = windows.get(firstEnd) as Map<string, Entry>;
      for (const [key, entry] of window) {
        window.delete(key);
        drop(key, entry);
        count.evacuated += 1;
        break;
      }
      if (window.size > 0) continue;
      windows.delete(firstEnd);
      findFirstEnd();
    }
  };

  const windowOf = (endSeconds: number): Map<string, Entry> => {
    const known = windows.get(endSeconds);
    if (known !== undefined) return known;
    const opened = new Map<string, Entry>();
    windows.set(endSeconds, opened);
    firstEnd = Math.min(firstEnd, endSeconds);
    return opened;
  };

  const gauges: Readonly<Record<string, () => number>> = {
    averageAccessTime: () => (entries === 0 ? 0 : Math.floor(accessSeconds / entries)),
    entryCount: () => entries,
    evacuateCount: () => count.evacuated,
    expiredCount: () => count.expired,
    hitCount: () => count.hit,
    lookupCount: () => count.hit + count.miss,
    missCount: () => count.miss,
    overwriteCount: () => count.overwritten,
  };
  const removals = Object.entries(gauges).map(([name, read]) =>
    statistics?.gauge(`ratelimit.localcache.${name}`, read),
  );

  return {
    isOver({ key, limit, windowEndSeconds }, nowSeconds) {
      dropEnded(nowSeconds);
      const entry = windows.get(windowEndSeconds)?.get(key);
      if (entry === undefined || limit > entry.limit) {
        count.miss += 1;
        return false;
      }
      count.hit += 1;
      accessSeconds += nowSeconds - entry.accessSeconds;
      entry.accessSeconds = nowSeconds;
      return true;
    },
    remember({ key, limit, windowEndSeconds }, nowSeconds) {
      if (windowEndSeconds <= nowSeconds) return;
      const window = windowOf(windowEndSeconds);
      const known = window.get(key);
      if (known !== undefined) {
        known.limit = Math.max(known.limit, limit);
        count.overwritten += 1;
        return;
      }
      window.set(key, { limit, accessSeconds: nowSeconds });
      entries += 1;
      bytes += bytesOf(key);
      accessSeconds += nowSeconds;
      makeRoom();
    },
    forget({ key, windowEndSeconds }) {
      const window = windows.get(windowEndSeconds);
      const entry = window?.get(key);
      if (window === undefined || entry === undefined) return;
      window.delete(key);
      drop(key, entry);
    },
    close() {
      for (const remove of removals) remove?.();
    },
  };
}

/** V8 takes one or two bytes for a character; two is the most. */
function bytesOf(key: string): number {
  return ENTRY_BYTES + 2 * key.length;
}

/** Whether anything of a batch is known to be over; gives hits back their effect. */
export function findKnown(
  cache: OverLimitCache,
  { increments, nowSeconds }: CounterBatch,
): boolean[] | undefined {
  let known: boolean[] | undefined;
  for (let index = 0; index < increments.length; index += 1) {
    const increment = increments[index] as Increment;
    if (increment.hits < 0) cache.forget(increment);
    else if (cache.isOver(increment, nowSeconds)) {
      known ??= new Array<boolean>(increments.length).fill(false);
      known[index] = true;
    }
  }
  return known;
}
