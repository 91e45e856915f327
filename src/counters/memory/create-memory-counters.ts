import { isBudgetLimiter } from '../../core/budgets/budget';
import { StoreError } from '../../core/errors';
import { isRecord } from '../../core/kinds/limiter';
import type { Limiter, Reading, State } from '../../core/kinds/kind';
import { countAdmitted } from '../../core/kinds/whole';
import {
  type Clock,
  type CounterBatch,
  type CounterReply,
  type CounterWriter,
  type Counters,
  type Increment,
  type ListedReservation,
  type Statistics,
} from '../../core/ports';
import { placeOfLimit } from '../../core/rules/rules';
import type { Steps } from '../../core/steps';
import { toKeyError } from '../count';
import { decideRuns } from '../hold-back';
import {
  createReplyDraft,
  fail,
  holdBackAt,
  setReading,
  toReply,
  type ReplyDraft,
} from '../../core/batches/reply-draft';
import { BudgetCounters } from './budget-counters';
import { RollingCounters } from './rolling-counters';
import { USAGE_QUARTILES } from './counter-slots';
import { createKeyReader } from './key-reader';
import { WindowCounters, type LiveCounter, type OverCounter } from './window-counters';

/** Default cap on live counters. */
const DEFAULT_MAX_KEYS = 1_000_000;

/** Enough for that many keys of 188 characters. */
const DEFAULT_MAX_BYTES = 512 * 1024 * 1024;

/** Interval for dropping ended windows while no batches come. */
const IDLE_SWEEP_MS = 1_000;

/** Records examined in that interval: a few milliseconds. */
const IDLE_SWEEP_COUNTERS = 10_000;

/** Records examined per increment of a batch, so that they are dropped faster than they are added. */
const SWEEP_PER_INCREMENT = 2;

const MENDED = 'ratelimit.memory.counters_mended';

export interface MemoryCountersDeps {
  /** Only for dropping ended windows while no batches come; decisions use the time of their batch. */
  readonly clock: Clock;
  readonly statistics?: Pick<Statistics, 'gauge' | 'count'>;
}

export interface MemoryCountersOptions {
  readonly maxKeys?: number;
  /** Cap on their memory. */
  readonly maxBytes?: number;
}

/** A counter's exact value, and the seconds for which a store would still keep it. */
export interface MemoryEntry {
  readonly value: number | bigint;
  /** For a record only. */
  readonly state?: State;
  readonly ttlSeconds: number;
  /** See CounterReading. */
  readonly firstEndMs?: number | undefined;
}

export interface MemoryCounters extends Counters, CounterWriter {
  readonly liveKeys: number;
  /** Counters under their limit that were evicted because of the cap, since the start. */
  readonly evictions: number;
  /** The counter of a key, for tests and tools; undefined when it is missing. */
  read(key: string, nowSeconds: number, limiter?: Limiter): MemoryEntry | undefined;
  /** See ListOpen. */
  listOpen(key: string, nowSeconds: number, most: number): readonly ListedReservation[];
  /** Counters over their limit now, up to a number; long keys as digests. */
  readonly listOver: (nowSeconds: number, most: number) => Steps<readonly OverCounter[]>;
  /** Every live counter of a window, soonest to end first; a long key as its digest. */
  entries(nowSeconds: number): IterableIterator<readonly [key: string, entry: MemoryEntry]>;
}

/**
 * Counters in this process: exact, immediate, lost when the process ends. Above `maxKeys` or `maxBytes` it evicts counters under
 * their limit, the least used first. A counter that has reached its limit is kept until its window ends; when only such are left, a
 * new key is refused (`CounterReply.failures`).
 */
export function createMemoryCounters(
  { clock, statistics }: MemoryCountersDeps,
  { maxKeys = DEFAULT_MAX_KEYS, maxBytes = DEFAULT_MAX_BYTES }: MemoryCountersOptions = {},
): MemoryCounters {
  let evictions = 0;
  let closed = false;
  const liveKeys = (): number =>
    windows.slots.liveKeys +
    rolling.kept.slots.liveKeys +
    budgets.kept.counters.slots.liveKeys +
    budgets.kept.openKeys;
  const bytes = (): number => windows.bytes + rolling.bytes + budgets.kept.bytes;
  const removeGauge = statistics?.gauge('ratelimit.memory.live_keys', liveKeys);
  const sweep = setInterval(() => {
    const nowSeconds = clock();
    windows.dropEnded(nowSeconds);
    rolling.kept.dropEnded(nowSeconds, IDLE_SWEEP_COUNTERS);
    budgets.kept.counters.dropEnded(nowSeconds, IDLE_SWEEP_COUNTERS);
  }, IDLE_SWEEP_MS).unref();

  /** Evicts the counter that matters least; false when every counter has reached its limit. */
  const evictOne = (): boolean => {
    for (let quartile = 0; quartile < USAGE_QUARTILES; quartile += 1) {
      if (windows.evictOne(quartile) || rolling.kept.evictOne(quartile)) return true;
      if (budgets.kept.counters.evictOne(quartile)) return true;
    }
    return false;
  };

  const makeRoom = (more: number): boolean => {
    while (liveKeys() >= maxKeys || bytes() + more > maxBytes) {
      const evicted = evictOne();
      statistics?.count(evicted ? 'ratelimit.memory.evictions' : 'ratelimit.memory.refused', 1);
      if (!evicted) return false;
      evictions += 1;
    }
    return true;
  };
  // Seen from the start, its first step is seen too.
  statistics?.count(MENDED, 0);
  const onMended = (): void => {
    statistics?.count(MENDED, 1);
  };
  const key = createKeyReader();
  const windows = new WindowCounters(makeRoom, key);
  const rolling = new RollingCounters(makeRoom, key, onMended);
  const budgets = new BudgetCounters(makeRoom, key, onMended);

  const addOne = (draft: ReplyDraft, index: number, increment: Increment, nowSeconds: number) => {
    const reply = addTo(increment, nowSeconds);
    if (reply === undefined) fail(draft, index, fullError(liveKeys()));
    else if (reply instanceof StoreError) fail(draft, index, reply);
    else setReading(draft, index, reply);
  };

  /** The reading of the counter; undefined: no room for a new one. */
  const addTo = (increment: Increment, nowSeconds: number): Reading | StoreError | undefined => {
    const { limiter } = increment;
    if (!isRecord(limiter)) return addToWindow(increment, nowSeconds);
    if (isBudgetLimiter(limiter)) return budgets.apply(increment, limiter, nowSeconds);
    return rolling.apply(increment, limiter, nowSeconds);
  };

  const addToWindow = (
    increment: Increment,
    nowSeconds: number,
  ): Reading | StoreError | undefined => {
    const { limiter, hits, times } = increment;
    if (!limiter.kind.readsFirst) return windows.add(increment, hits, nowSeconds);
    const used = windows.countOf(increment);
    const state = limiter.kind.ofHits(limiter, used, 0);
    const admitted = countAdmitted(limiter, state, { hits: Number(hits), times });
    const charged = hits < 0 ? hits : admitted * Number(hits);
    const after = charged === 0 ? 0 : windows.add(increment, charged, nowSeconds);
    return typeof after === 'number' ? state : after;
  };

  const read = (increment: Increment, nowSeconds: number): Reading => {
    const { limiter } = increment;
    if (isBudgetLimiter(limiter)) return budgets.currentState(increment, limiter, nowSeconds);
    if (isRecord(limiter)) return rolling.currentState(increment, limiter, nowSeconds);
    return limiter.kind.ofHits(limiter, windows.countOf(increment), 0);
  };

  const apply = (batch: CounterBatch): CounterReply => {
    const { increments, groupEnds, nowSeconds } = batch;
    windows.dropEnded(nowSeconds);
    rolling.kept.dropEnded(nowSeconds, increments.length * SWEEP_PER_INCREMENT);
    budgets.kept.counters.dropEnded(nowSeconds, increments.length * SWEEP_PER_INCREMENT);
    budgets.beginBatch();
    const draft = createReplyDraft(increments.length);
    if (groupEnds === undefined) {
      let index = 0;
      for (const increment of increments) addOne(draft, index++, increment, nowSeconds);
    } else {
      decideRuns(batch, {
        read: (increment) => read(increment, nowSeconds),
        add(index, increment) {
          addOne(draft, index, increment, nowSeconds);
        },
        holdBack(index, reading) {
          holdBackAt(draft, index, reading);
        },
        refuse(index, reading) {
          setReading(draft, index, reading);
        },
      });
    }
    return toReply(draft);
  };

  return {
    get liveKeys() {
      return liveKeys();
    },
    get evictions() {
      return evictions;
    },
    // eslint-disable-next-line @typescript-eslint/require-await -- a throw must become a rejection
    async add(batch) {
      if (closed) throw new StoreError('store_unavailable', 'the service is stopping');
      return apply(batch);
    },
    read(key, nowSeconds, limiter) {
      if (limiter !== undefined && isRecord(limiter)) {
        if (isBudgetLimiter(limiter)) return budgets.read({ key }, limiter, nowSeconds);
        return rolling.read({ key }, limiter, nowSeconds);
      }
      const counter = windows.find(key);
      return counter && toEntry(counter, nowSeconds);
    },
    listOpen(key, nowSeconds, most) {
      return budgets.listOpen({ key }, nowSeconds, most).map(({ id, hits, endMs }) => {
        return { id, hits, endsInMs: endMs - nowSeconds * 1_000 };
      });
    },
    remove(counters, options) {
      for (const one of counters) {
        if (isBudgetLimiter(one.limiter)) budgets.remove(one, options?.withOpen);
        else (isRecord(one.limiter) ? rolling : windows).remove(one);
      }
      return Promise.resolve(counters.map(() => undefined));
    },
    set(counters, used, nowSeconds, limit) {
      const isSet = (one: Increment): boolean => {
        const { limiter, rule } = one;
        if (!isRecord(limiter)) return windows.set(one, used, nowSeconds);
        const at = placeOfLimit(rule, limit);
        if (isBudgetLimiter(limiter)) return budgets.set(one, limiter, { used, at }, nowSeconds);
        return rolling.set(one, limiter, used, nowSeconds);
      };
      const setOne = (one: Increment): StoreError | undefined =>
        isSet(one) ? undefined : fullError(liveKeys());
      return Promise.resolve(counters.map(setOne));
    },
    *listOver(nowSeconds, most) {
      const found = yield* windows.listOver(nowSeconds, most);
      const counted = [...found, ...(yield* rolling.listOver(nowSeconds, most - found.length))];
      return [...counted, ...(yield* budgets.listOver(nowSeconds, most - counted.length))];
    },
    *entries(nowSeconds) {
      for (const counter of windows.counters()) {
        yield [counter.key, toEntry(counter, nowSeconds)];
      }
    },
    close() {
      closed = true;
      clearInterval(sweep);
      removeGauge?.();
      windows.clear();
      rolling.kept.clear();
      budgets.kept.counters.clear();
      return Promise.resolve();
    },
  };
}

function toEntry({ count, expiresAtSeconds }: LiveCounter, nowSeconds: number): MemoryEntry {
  return { value: count, ttlSeconds: expiresAtSeconds - nowSeconds };
}

function fullError(liveKeys: number): StoreError {
  return toKeyError(`the memory counters are full: ${String(liveKeys)} keys, all at their limit`);
}
