import { type Standing } from '../core/algorithms/standing';
import { type Increment, type Statistics } from '../core/ports';
import { bytesOfText, copyText, toKeptKey } from './kept-key';
import { endOfRefusal, standingRefusing, type Stood } from './refusal';

/** Counters known to be over a limit, so that nobody has to ask a store for them. */
export interface OverLimitCache {
  /** Whether the counter is known to be over this increment's limit. */
  isOver(increment: Increment, nowSeconds: number): boolean;
  /** Remembers that a counter is over this increment's limit, until its window ends. */
  remember(increment: Increment, nowSeconds: number): void;
  /** The same for an operator: counts as no lookup. */
  readonly knows: (
    counter: Pick<Increment, 'key' | 'limit' | 'windowEndSeconds'>,
    nowSeconds: number,
  ) => boolean;
  /** Keys that are over their limit now, up to a number; long ones by their digest. */
  readonly list: (nowSeconds: number, most: number) => readonly OverKey[];
  /**
   * Where the counter of an increment with an algorithm stands at least, if that refuses each of its asks. Others can only
   * have charged it since, and a refused ask writes nothing: the store would refuse them too.
   */
  refusing(increment: Increment, nowSeconds: number): Standing | undefined;
  /** Remembers where a counter stands that has refused an ask, until that ask would fit. */
  rememberStanding(increment: Increment, standing: Standing, nowSeconds: number): void;
  /** Forgets a counter: hits were given back. */
  forget(increment: Increment): void;
  /** Forgets counters by their keys, or by the digests of long ones, whatever their windows; undefined: all counters. */
  forgetKeys(keys: readonly string[] | undefined): void;
  /** Grows with each `forgetKeys`: what a store said before may no longer be true. */
  readonly generation: number;
  /** Takes the gauges away. */
  close(): void;
}

/** A counter over its limit. */
export interface OverKey {
  readonly key: string;
  readonly limit: number;
  /** Unix seconds. */
  readonly windowEndSeconds: number;
}

export interface OverLimitCacheOptions {
  /** LocalCacheSizeInBytes. */
  readonly sizeBytes: number;
}

/** The entries of one window, and the oldest of them first in a walk that goes on where it stopped. */
interface OverWindow {
  readonly entries: Map<string, Entry>;
  oldest: MapIterator<[string, Entry]>;
}

interface Entry {
  /** The highest limit that the counter is known to have passed: it has passed every lower one too. */
  limit: number;
  accessSeconds: number;
  /** Of a counter with an algorithm. */
  readonly stood?: Stood;
}

/** What V8 takes for an entry besides the text of its key: two objects and a place in a map. */
const ENTRY_BYTES = 120;
/** The same of a standing, with its place in the index of ends. */
const STANDING_BYTES = 160;

/**
 * Bounded in bytes. Entries of one window are dropped together when it ends; when there is no room, the
 * oldest of the window that ends soonest goes first.
 */
export function createOverLimitCache(
  { statistics }: { readonly statistics?: Pick<Statistics, 'gauge'> },
  { sizeBytes }: OverLimitCacheOptions,
): OverLimitCache {
  const windows = new Map<number, OverWindow>();
  /** Under which second a counter with an algorithm is filed. */
  const ends = new Map<string, number>();
  const count = { hit: 0, miss: 0, expired: 0, evacuated: 0, overwritten: 0 };
  let entries = 0;
  let bytes = 0;
  let accessSeconds = 0;
  let firstEnd = Infinity;
  let generation = 0;

  const drop = (key: string, entry: Entry): void => {
    entries -= 1;
    bytes -= bytesOf(key, entry);
    if (entry.stood !== undefined) ends.delete(key);
    accessSeconds -= entry.accessSeconds;
  };

  const findFirstEnd = (): void => {
    firstEnd = windows.size === 0 ? Infinity : Math.min(...windows.keys());
  };

  const dropEnded = (nowSeconds: number): void => {
    while (firstEnd <= nowSeconds) {
      const { entries: ended } = windows.get(firstEnd) as OverWindow;
      count.expired += ended.size;
      for (const [key, entry] of ended) drop(key, entry);
      windows.delete(firstEnd);
      findFirstEnd();
    }
  };

  const makeRoom = (): void => {
    while (bytes > sizeBytes) {
      const window = windows.get(firstEnd) as OverWindow;
      const oldest = nextOldest(window);
      if (oldest === undefined) {
        windows.delete(firstEnd);
        findFirstEnd();
        continue;
      }
      const [key, entry] = oldest;
      window.entries.delete(key);
      drop(key, entry);
      count.evacuated += 1;
    }
  };

  const windowOf = (endSeconds: number): OverWindow => {
    const known = windows.get(endSeconds);
    if (known !== undefined) return known;
    const ofWindow = new Map<string, Entry>();
    const opened = { entries: ofWindow, oldest: ofWindow.entries() };
    windows.set(endSeconds, opened);
    firstEnd = Math.min(firstEnd, endSeconds);
    return opened;
  };

  const file = (kept: string, entry: Entry, endSeconds: number): void => {
    const key = copyText(kept);
    windowOf(endSeconds).entries.set(key, entry);
    if (entry.stood !== undefined) ends.set(key, endSeconds);
    entries += 1;
    bytes += bytesOf(key, entry);
    accessSeconds += entry.accessSeconds;
    makeRoom();
  };

  const remove = (kept: string, endSeconds: number | undefined): boolean => {
    const window = endSeconds === undefined ? undefined : windows.get(endSeconds);
    const entry = window?.entries.get(kept);
    if (window === undefined || entry === undefined) return false;
    window.entries.delete(kept);
    drop(kept, entry);
    return true;
  };

  const used = (entry: Entry, nowSeconds: number): void => {
    count.hit += 1;
    accessSeconds += nowSeconds - entry.accessSeconds;
    entry.accessSeconds = nowSeconds;
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
      const entry = windows.get(windowEndSeconds)?.entries.get(toKeptKey(key));
      if (entry === undefined || limit > entry.limit) {
        count.miss += 1;
        return false;
      }
      used(entry, nowSeconds);
      return true;
    },
    knows({ key, limit, windowEndSeconds }, nowSeconds) {
      const entry = windows.get(windowEndSeconds)?.entries.get(toKeptKey(key));
      return entry !== undefined && limit <= entry.limit && windowEndSeconds > nowSeconds;
    },
    list(nowSeconds, most) {
      const found: OverKey[] = [];
      for (const [windowEndSeconds, window] of windows) {
        if (windowEndSeconds <= nowSeconds) continue;
        for (const [key, { limit, stood }] of window.entries) {
          if (found.length >= most) return found;
          if (stood !== undefined) continue;
          found.push({ key, limit, windowEndSeconds });
        }
      }
      return found;
    },
    refusing(increment, nowSeconds) {
      dropEnded(nowSeconds);
      const kept = toStandingKey(increment.key);
      const entry = windows.get(ends.get(kept) ?? NaN)?.entries.get(kept);
      const standing = entry?.stood && standingRefusing(entry.stood, increment, nowSeconds);
      if (entry === undefined || standing === undefined) {
        count.miss += 1;
        return undefined;
      }
      used(entry, nowSeconds);
      return standing;
    },
    rememberStanding(increment, standing, nowSeconds) {
      const kept = toStandingKey(increment.key);
      const endSeconds = endOfRefusal(increment, standing, nowSeconds);
      if (remove(kept, ends.get(kept))) count.overwritten += 1;
      if (endSeconds <= nowSeconds) return;
      const stood = { standing, atSeconds: nowSeconds };
      file(kept, { limit: increment.limit, accessSeconds: nowSeconds, stood }, endSeconds);
    },
    remember({ key, limit, windowEndSeconds }, nowSeconds) {
      if (windowEndSeconds <= nowSeconds) return;
      const kept = toKeptKey(key);
      const known = windows.get(windowEndSeconds)?.entries.get(kept);
      if (known !== undefined) {
        known.limit = Math.max(known.limit, limit);
        count.overwritten += 1;
        return;
      }
      file(kept, { limit, accessSeconds: nowSeconds }, windowEndSeconds);
    },
    forgetKeys(keys) {
      generation += 1;
      for (const { entries: ofWindow } of windows.values()) {
        for (const kept of keys?.flatMap(toEntryKeys) ?? [...ofWindow.keys()]) {
          const entry = ofWindow.get(kept);
          if (entry === undefined) continue;
          ofWindow.delete(kept);
          drop(kept, entry);
        }
      }
    },
    get generation() {
      return generation;
    },
    forget({ key, windowEndSeconds, algorithm }) {
      if (algorithm === undefined) remove(toKeptKey(key), windowEndSeconds);
      else {
        const kept = toStandingKey(key);
        remove(kept, ends.get(kept));
      }
    },
    close() {
      for (const removeGauge of removals) removeGauge?.();
    },
  };
}

/** A fixed window that charges nothing it refuses may share its counter with one that does: their entries differ. */
function toStandingKey(key: string): string {
  return `${toKeptKey(key)}~`;
}

/** The keys of the entries that a counter may have. */
function toEntryKeys(key: string): readonly string[] {
  return [toKeptKey(key), toStandingKey(key)];
}

/** The most that an entry takes. */
function bytesOf(key: string, { stood }: Entry): number {
  return ENTRY_BYTES + bytesOfText(key) + (stood === undefined ? 0 : STANDING_BYTES);
}

/**
 * The oldest entry of a window; undefined when it has none. A walk that began anew each time would pass over all places
 * whose entries have gone before. What comes after the end of a walk needs a new one.
 */
function nextOldest(window: OverWindow): readonly [string, Entry] | undefined {
  let next = window.oldest.next();
  if (next.done === true) {
    window.oldest = window.entries.entries();
    next = window.oldest.next();
  }
  return next.done === true ? undefined : next.value;
}
