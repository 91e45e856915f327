import { msOfBlocks } from '../core/budgets/block';
import { isBudgetLimiter, type BudgetLimiter } from '../core/budgets/budget';
import { refusalOfOne } from '../core/budgets/outcome';
import type { BudgetState, Reading, State } from '../core/kinds/kind';
import { refusedUntil, stateRefusing } from '../core/kinds/refusal';
import { type Increment, type Statistics } from '../core/ports';
import type { Steps } from '../core/steps';
import { OverEntries, type OverEntry, findOver } from './over-entries';
import { dueSecondsOf } from './due-seconds';
import { toKeptKey } from './kept-key';

/** Cache of counters known to be over a limit, which saves store calls. */
export interface OverLimitCache {
  /** The known state of the counter, if it refuses each charge of the increment; a number: it is over the limit, and no more is known. */
  refusing(increment: Increment, nowSeconds: number): Reading | undefined;
  /** As `refusing`, for an operator: not counted as a lookup. */
  readonly knows: (increment: Increment, nowSeconds: number) => boolean;
  /** Caches a counter that has refused a charge, until that charge would fit. */
  remember(increment: Increment, reading: Reading, nowSeconds: number): void;
  /** Keys over their limit now, up to a number, among the first that one search visits; long ones as digests. */
  readonly list: (nowSeconds: number, most: number) => Steps<readonly OverKey[]>;
  /** Drops a counter after a refund. */
  forget(increment: Increment): void;
  /** Drops counters by their keys, or by the digests of long ones, in all windows; undefined: all counters. */
  forgetKeys(keys: readonly string[] | undefined): void;
  /** Grows with each `forgetKeys`: an earlier reply of a store may be out of date. */
  readonly generation: number;
  /** Unregisters the gauges. */
  close(): void;
}

export interface OverKey {
  readonly key: string;
  readonly limit: number;
  /** Unix seconds: the end of its window, or when the refused charge fits. */
  readonly windowEndSeconds: number;
}

export interface OverLimitCacheOptions {
  /** LocalCacheSizeInBytes. */
  readonly sizeBytes: number;
  /** How long a leased counter is cached: hits that others return may make room. Undefined: as long as all others. */
  readonly leasedSeconds?: number | undefined;
}

export function createOverLimitCache(
  { statistics }: { readonly statistics?: Pick<Statistics, 'gauge'> },
  { sizeBytes, leasedSeconds = Infinity }: OverLimitCacheOptions,
): OverLimitCache {
  const entries = new OverEntries(sizeBytes);
  const count = { hit: 0, miss: 0, overwritten: 0 };
  let generation = 0;

  const used = (entry: OverEntry, nowSeconds: number): void => {
    count.hit += 1;
    entries.touch(entry, nowSeconds);
  };

  /** Whether the entry is still valid: a leased counter may have room again. */
  const isRecent = ({ knownSeconds }: OverEntry, { rule }: Increment, nowSeconds: number) =>
    rule.isLeased !== true || nowSeconds - knownSeconds <= leasedSeconds;

  const entryOf = (increment: Increment): OverEntry | undefined => {
    // Usually nothing is over: then no key is hashed.
    if (entries.size === 0) return undefined;
    const key = toKeptKey(increment.key);
    return increment.limiter.kind.readsFirst
      ? entries.stateOf(key)
      : entries.countOf(key, increment.windowEndSeconds);
  };

  const rememberState = (increment: Increment, state: State, nowSeconds: number): void => {
    const key = toKeptKey(increment.key);
    const endSeconds = knownUntil(increment, state, nowSeconds);
    if (entries.removeState(key)) count.overwritten += 1;
    if (endSeconds <= nowSeconds) return;
    const filedSeconds = dueSecondsOf(endSeconds, nowSeconds);
    const knownState = { state, atSeconds: nowSeconds, endSeconds, filedSeconds };
    const { limit, limiter } = increment;
    const entry = {
      limit,
      accessSeconds: nowSeconds,
      knownSeconds: nowSeconds,
      knownState,
      limiter,
    };
    entries.add(key, entry, filedSeconds);
  };

  const rememberOver = (increment: Increment, nowSeconds: number): void => {
    const { limit, windowEndSeconds } = increment;
    if (windowEndSeconds <= nowSeconds) return;
    const key = toKeptKey(increment.key);
    const known = entries.countOf(key, windowEndSeconds);
    if (known === undefined) {
      const entry = { limit, accessSeconds: nowSeconds, knownSeconds: nowSeconds };
      entries.add(key, entry, windowEndSeconds);
      return;
    }
    known.knownSeconds = nowSeconds;
    known.limit = Math.max(known.limit, limit);
    count.overwritten += 1;
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
    refusing(increment, nowSeconds) {
      entries.dropEnded(nowSeconds);
      const entry = entryOf(increment);
      const reading =
        entry && isRecent(entry, increment, nowSeconds)
          ? refusingReading(entry, increment, nowSeconds)
          : undefined;
      if (entry === undefined || reading === undefined) {
        count.miss += 1;
        return undefined;
      }
      used(entry, nowSeconds);
      return reading;
    },
    knows(increment, nowSeconds) {
      const entry = entryOf(increment);
      if (entry === undefined || !increment.limiter.kind.isRecalled(increment)) return false;
      if (!isRecent(entry, increment, nowSeconds)) return false;
      if (entry.knownState === undefined && increment.windowEndSeconds <= nowSeconds) return false;
      return refusingReading(entry, increment, nowSeconds) !== undefined;
    },
    list: (nowSeconds, most) =>
      findOver(entries, most, ({ key, entry, endSeconds }) => {
        const windowEndSeconds = entry.knownState?.endSeconds ?? endSeconds;
        if (windowEndSeconds <= nowSeconds) return undefined;
        return { key, limit: limitOf(entry), windowEndSeconds };
      }),
    remember(increment, reading, nowSeconds) {
      if (typeof reading === 'object') rememberState(increment, reading, nowSeconds);
      else rememberOver(increment, nowSeconds);
    },
    forgetKeys(keys) {
      generation += 1;
      entries.removeKeys(keys?.map(toKeptKey));
    },
    get generation() {
      return generation;
    },
    forget(increment) {
      const key = toKeptKey(increment.key);
      if (increment.limiter.kind.readsFirst) entries.removeState(key);
      else entries.removeCount(key, increment.windowEndSeconds);
    },
    close() {
      for (const removeGauge of removals) removeGauge?.();
    },
  };
}

/** The exceeded limit, or the state, where one of them refuses all charges of the increment. */
function refusingReading(
  { knownState, limit, limiter }: OverEntry,
  increment: Increment,
  nowSeconds: number,
): Reading | undefined {
  if (isBudgetLimiter(increment.limiter)) {
    // An entry for one list of limits says nothing about another.
    if (increment.limiter !== limiter) return undefined;
    if (hasBlocks(increment.limiter) && nowSeconds >= (knownState?.endSeconds ?? 0))
      return undefined;
  }
  if (knownState !== undefined) return stateRefusing(knownState, increment, nowSeconds);
  return increment.limit <= limit ? limit : undefined;
}

/** Refusals count where a rule has blocks: of its counters only blocked ones are cached, until the block ends. */
function knownUntil(increment: Increment, state: State, nowSeconds: number): number {
  const { limiter } = increment;
  return isBudgetLimiter(limiter) && hasBlocks(limiter)
    ? Math.floor(nowSeconds + msOfBlocks(limiter.budget, state as BudgetState) / 1_000)
    : refusedUntil(increment, state, nowSeconds);
}

function hasBlocks({ budget }: BudgetLimiter): boolean {
  return budget.blocks.length > 0;
}

/** The refusing one among several limits. */
function limitOf({ knownState, limiter, limit }: OverEntry): number {
  if (knownState === undefined || limiter === undefined || !isBudgetLimiter(limiter)) return limit;
  const { state, atSeconds } = knownState;
  return refusalOfOne(limiter, state as BudgetState, Math.floor(atSeconds))?.limit ?? limit;
}
