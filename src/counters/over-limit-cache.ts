import { type CounterState } from '../core/algorithms/counter-state';
import { type Increment, type Statistics } from '../core/ports';
import type { Steps } from '../core/steps';
import { findOver } from './find-over';
import { toKeptKey } from './kept-key';
import { OverEntries, type OverEntry } from './over-entries';
import { endOfRefusal, stateRefusing } from './refusal';

/** Counters known to be over a limit, so that no store has to be asked for them. */
export interface OverLimitCache {
  /** Whether the counter is known to be over this increment's limit. */
  isOver(increment: Increment, nowSeconds: number): boolean;
  /** Remembers that a counter is over this increment's limit, until its window ends. */
  remember(increment: Increment, nowSeconds: number): void;
  /** The same for an operator: counts as no lookup. */
  readonly knows: (increment: Increment, nowSeconds: number) => boolean;
  /** Keys that are over their limit now, up to a number, among the first that one look passes; long ones by their digest. */
  readonly list: (nowSeconds: number, most: number) => Steps<readonly OverKey[]>;
  /**
   * Where the counter of an increment with an algorithm stands at least, if that refuses each of its asks. Others can only
   * have charged it since, and a refused ask writes nothing: the store would refuse them too.
   */
  refusing(increment: Increment, nowSeconds: number): CounterState | undefined;
  /** Remembers where a counter stands that has refused an ask, until that ask would fit. */
  rememberState(increment: Increment, state: CounterState, nowSeconds: number): void;
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
  /** Unix seconds: the end of its window, or when the ask that was refused fits. */
  readonly windowEndSeconds: number;
}

export interface OverLimitCacheOptions {
  /** LocalCacheSizeInBytes. */
  readonly sizeBytes: number;
}

export function createOverLimitCache(
  { statistics }: { readonly statistics?: Pick<Statistics, 'gauge'> },
  { sizeBytes }: OverLimitCacheOptions,
): OverLimitCache {
  const entries = new OverEntries(sizeBytes);
  const count = { hit: 0, miss: 0, overwritten: 0 };
  let generation = 0;

  const used = (entry: OverEntry, nowSeconds: number): void => {
    count.hit += 1;
    entries.touch(entry, nowSeconds);
  };

  const stateEntryOf = (key: string): OverEntry | undefined => {
    const kept = toStateKey(key);
    return entries.get(kept, entries.endOf(kept));
  };

  const gauges: Readonly<Record<string, () => number>> = {
    averageAccessTime: () =>
      entries.size === 0 ? 0 : Math.floor(entries.accessSeconds / entries.size),
    entryCount: () => entries.size,
    evacuateCount: () => entries.evacuated,
    expiredCount: () => entries.expired,
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
      entries.dropEnded(nowSeconds);
      const entry = entries.get(toKeptKey(key), windowEndSeconds);
      if (entry === undefined || limit > entry.limit) {
        count.miss += 1;
        return false;
      }
      used(entry, nowSeconds);
      return true;
    },
    knows(increment, nowSeconds) {
      const { key, hits, limit, windowEndSeconds, algorithm } = increment;
      if (algorithm !== undefined) {
        if (hits === 0) return false;
        const knownState = stateEntryOf(key)?.knownState;
        return (
          knownState !== undefined && stateRefusing(knownState, increment, nowSeconds) !== undefined
        );
      }
      const entry = entries.get(toKeptKey(key), windowEndSeconds);
      return entry !== undefined && limit <= entry.limit && windowEndSeconds > nowSeconds;
    },
    list: (nowSeconds, most) =>
      findOver(entries, most, ({ key, entry, endSeconds }) => {
        const windowEndSeconds = entry.knownState?.endSeconds ?? endSeconds;
        if (windowEndSeconds <= nowSeconds) return undefined;
        const shown = entry.knownState === undefined ? key : keyOfState(key);
        return { key: shown, limit: entry.limit, windowEndSeconds };
      }),
    refusing(increment, nowSeconds) {
      entries.dropEnded(nowSeconds);
      const entry = stateEntryOf(increment.key);
      const state = entry?.knownState && stateRefusing(entry.knownState, increment, nowSeconds);
      if (entry === undefined || state === undefined) {
        count.miss += 1;
        return undefined;
      }
      used(entry, nowSeconds);
      return state;
    },
    rememberState(increment, state, nowSeconds) {
      const kept = toStateKey(increment.key);
      const endSeconds = endOfRefusal(increment, state, nowSeconds);
      if (entries.remove(kept, entries.endOf(kept))) count.overwritten += 1;
      if (endSeconds <= nowSeconds) return;
      const knownState = { state, atSeconds: nowSeconds, endSeconds };
      entries.add(
        kept,
        { limit: increment.limit, accessSeconds: nowSeconds, knownState },
        endSeconds,
      );
    },
    remember({ key, limit, windowEndSeconds }, nowSeconds) {
      if (windowEndSeconds <= nowSeconds) return;
      const kept = toKeptKey(key);
      const known = entries.get(kept, windowEndSeconds);
      if (known !== undefined) {
        known.limit = Math.max(known.limit, limit);
        count.overwritten += 1;
        return;
      }
      entries.add(kept, { limit, accessSeconds: nowSeconds }, windowEndSeconds);
    },
    forgetKeys(keys) {
      generation += 1;
      entries.removeKeys(keys?.flatMap(toEntryKeys));
    },
    get generation() {
      return generation;
    },
    forget({ key, windowEndSeconds, algorithm }) {
      if (algorithm === undefined) entries.remove(toKeptKey(key), windowEndSeconds);
      else {
        const kept = toStateKey(key);
        entries.remove(kept, entries.endOf(kept));
      }
    },
    close() {
      for (const removeGauge of removals) removeGauge?.();
    },
  };
}

/** A fixed window that charges nothing it refuses may share its counter with one that does: their entries differ. */
function toStateKey(key: string): string {
  return `${toKeptKey(key)}~`;
}

function keyOfState(key: string): string {
  return key.slice(0, -1);
}

/** The keys of the entries that a counter may have. */
function toEntryKeys(key: string): readonly string[] {
  return [toKeptKey(key), toStateKey(key)];
}
