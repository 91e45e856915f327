import { isRolling, type Algorithm } from '../../core/algorithms/algorithm';
import { countAdmitted } from '../../core/algorithms/apply-asks';
import type { CounterState } from '../../core/algorithms/counter-state';
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
import type { Steps } from '../../core/steps';
import { toKeyError } from '../count';
import { decideRuns, isOverAt, type ReadState } from '../hold-back';
import {
  createReplyDraft,
  fail,
  holdBackAt,
  stand,
  toReply,
  type ReplyDraft,
} from '../reply-draft';
import { RollingCounters } from './rolling-counters';
import { USAGE_QUARTILES, type LiveCounter } from './window-bucket';
import { WindowCounters, type OverCounter } from './window-counters';

/** Default cap on live counters. */
const DEFAULT_MAX_KEYS = 1_000_000;

/** Room for as many keys of 188 characters. */
const DEFAULT_MAX_BYTES = 512 * 1024 * 1024;

/** Interval for dropping ended windows while no batch comes. */
const IDLE_SWEEP_MS = 1_000;

/** Counters of gcra and sliding_window that are looked at then: a few milliseconds. */
const IDLE_SWEEP_COUNTERS = 10_000;

/** Those that a batch looks at for each of its increments, so that they go faster than they come. */
const SWEEP_PER_INCREMENT = 2;

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
  /** Under gcra and sliding_window alone. */
  readonly state?: CounterState;
  readonly ttlSeconds: number;
}

export interface MemoryCounters extends Counters, CounterWriter {
  readonly liveKeys: number;
  /** Counters under their limit that were evicted because of the cap, since the start. */
  readonly evictions: number;
  /** The counter of a key, for tests and tools; undefined when there is none. */
  read(key: string, nowSeconds: number, algorithm?: Algorithm): MemoryEntry | undefined;
  /** Counters over their limit now, up to a number; long keys by their digest. */
  readonly listOver: (nowSeconds: number, most: number) => Steps<readonly OverCounter[]>;
  /** Every live counter of a window, soonest end first; one of a long key under the digest of it. */
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
  let evictions = 0;
  let closed = false;
  const liveKeys = (): number => windows.buckets.liveKeys + rolling.liveKeys;
  const removeGauge = statistics?.gauge('ratelimit.memory.live_keys', liveKeys);
  const sweep = setInterval(() => {
    const nowSeconds = clock();
    windows.buckets.dropEnded(nowSeconds);
    rolling.dropEnded(nowSeconds, IDLE_SWEEP_COUNTERS);
  }, IDLE_SWEEP_MS).unref();

  /** Forgets the counter that matters least; false when every counter has reached its limit. */
  const evictOne = (): boolean => {
    for (let quartile = 0; quartile < USAGE_QUARTILES; quartile += 1) {
      if (windows.buckets.evictOne(quartile) || rolling.evictOne(quartile)) return true;
    }
    return false;
  };

  const makeRoom = (bytes: number): boolean => {
    while (liveKeys() >= maxKeys || windows.buckets.bytes + rolling.bytes + bytes > maxBytes) {
      const evicted = evictOne();
      statistics?.count(evicted ? 'ratelimit.memory.evictions' : 'ratelimit.memory.refused', 1);
      if (!evicted) return false;
      evictions += 1;
    }
    return true;
  };
  const windows = new WindowCounters(makeRoom);
  const rolling = new RollingCounters(makeRoom);

  const addOne = (draft: ReplyDraft, index: number, increment: Increment, nowSeconds: number) => {
    const { algorithm, hits } = increment;
    const reply =
      algorithm === undefined
        ? windows.add(increment, hits, nowSeconds)
        : addAsks(increment, algorithm, nowSeconds);
    if (typeof reply === 'number') draft.after[index] = reply;
    else if (reply === undefined) fail(draft, index, fullError(liveKeys()));
    else if (reply instanceof StoreError) fail(draft, index, reply);
    else {
      draft.after[index] = 0;
      stand(draft, index, reply);
    }
  };

  /** Where the counter stood before the asks; undefined: no room for a new one. */
  const addAsks = (
    increment: Increment,
    algorithm: Algorithm,
    nowSeconds: number,
  ): CounterState | StoreError | undefined => {
    if (isRolling(algorithm)) return rolling.apply(increment, algorithm, nowSeconds);
    const state = toCounterState(windows.countOf(increment));
    const { hits, times = 1 } = increment;
    const admitted = countAdmitted(algorithm, state, { hits: Number(hits), times });
    const charged = hits < 0 ? hits : admitted * Number(hits);
    const after = charged === 0 ? 0 : windows.add(increment, charged, nowSeconds);
    return typeof after === 'number' ? state : after;
  };

  /** Where a counter stands; its count, where nothing but that is known of it. */
  const look = (increment: Increment, nowSeconds: number): CounterState | number => {
    const { algorithm } = increment;
    if (algorithm === undefined) return windows.countOf(increment);
    return isRolling(algorithm)
      ? rolling.look(increment, algorithm, nowSeconds)
      : toCounterState(windows.countOf(increment));
  };

  const apply = (batch: CounterBatch): CounterReply => {
    const { increments, groupEnds, nowSeconds } = batch;
    windows.buckets.dropEnded(nowSeconds);
    rolling.dropEnded(nowSeconds, increments.length * SWEEP_PER_INCREMENT);
    const draft = createReplyDraft(increments.length);
    if (groupEnds === undefined) {
      let index = 0;
      for (const increment of increments) addOne(draft, index++, increment, nowSeconds);
    } else {
      decideRuns<ReadState>(batch, {
        look: (increment) => look(increment, nowSeconds),
        isOver: isOverAt,
        add(index, increment) {
          addOne(draft, index, increment, nowSeconds);
        },
        holdBack(index, seen) {
          holdBackAt(draft, index, seen);
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
      if (closed) throw new StoreError('store_unavailable', 'the memory counters are closed');
      return apply(batch);
    },
    read(key, nowSeconds, algorithm) {
      if (isRolling(algorithm)) return rolling.read({ key }, algorithm, nowSeconds);
      const counter = windows.find(key);
      return counter && toEntry(counter, nowSeconds);
    },
    remove(counters) {
      for (const one of counters) (isRolling(one.algorithm) ? rolling : windows).remove(one);
      return Promise.resolve(counters.map(() => undefined));
    },
    set(counters, used, nowSeconds) {
      const setOne = (one: Increment): StoreError | undefined => {
        const isSet = isRolling(one.algorithm)
          ? rolling.set(one, one.algorithm, used, nowSeconds)
          : windows.set(one, used, nowSeconds);
        return isSet ? undefined : fullError(liveKeys());
      };
      return Promise.resolve(counters.map(setOne));
    },
    *listOver(nowSeconds, most) {
      const found = yield* windows.listOver(nowSeconds, most);
      return [...found, ...(yield* rolling.listOver(nowSeconds, most - found.length))];
    },
    *entries(nowSeconds) {
      for (const counter of windows.buckets.counters()) {
        yield [counter.key, toEntry(counter, nowSeconds)];
      }
    },
    close() {
      closed = true;
      clearInterval(sweep);
      removeGauge?.();
      windows.buckets.clear();
      rolling.clear();
      return Promise.resolve();
    },
  };
}

/** A window that charges no refused hits. */
function toCounterState(used: number): CounterState {
  return { used, previous: 0, elapsed: 0 };
}

function toEntry({ count, exact, expiresAtSeconds }: LiveCounter, nowSeconds: number): MemoryEntry {
  return { value: exact ?? count, ttlSeconds: expiresAtSeconds - nowSeconds };
}

function fullError(liveKeys: number): StoreError {
  return toKeyError(`the memory counters are full: ${String(liveKeys)} keys, all at their limit`);
}
