import type { Algorithm } from '../../core/algorithms/algorithm';
import { applyAsks, isUnused, lifetimeMs } from '../../core/algorithms/apply-asks';
import { outcomeOf } from '../../core/algorithms/outcome';
import {
  freeHits,
  stateAfter,
  stateOfUsed,
  unusedAt,
  usedHits,
  type CounterState,
} from '../../core/algorithms/counter-state';
import { tickAt } from '../../core/algorithms/ticks';
import type { Increment } from '../../core/ports';
import type { Steps } from '../../core/steps';
import { findOver } from '../find-over';
import { bytesOfText, toKeptKey } from '../kept-key';
import { ExpirySlots, type RollingCounter } from './expiry-slots';
import { createShards, shardOf } from './shards';
import { USAGE_QUARTILES, usageQuartileOf } from './window-bucket';
import type { MakeRoom, OverCounter } from './window-counters';

/** Bytes that V8 takes for a counter besides the characters of its key, measured: an object, two numbers, a string and a map entry. */
const COUNTER_BYTES = 248;

const ONE_HIT = { hits: 1, times: 1 };

/** `_1s~g`, the shortest end of a key. */
const KEY_END = 5;

interface RollingEntry {
  readonly value: number;
  readonly state: CounterState;
  readonly ttlSeconds: number;
}

/**
 * The counters of gcra and sliding_window. The end of each moves with every hit; one that is kept for longer changes no
 * answer, so that they are dropped little by little.
 */
export class RollingCounters {
  liveKeys = 0;
  /** The most that they take. */
  bytes = 0;
  readonly #shards = createShards<RollingCounter>();
  readonly #slots = new ExpirySlots();
  readonly #makeRoom: MakeRoom;

  constructor(makeRoom: MakeRoom) {
    this.#makeRoom = makeRoom;
  }

  /** Where a counter stands now. */
  look({ key }: Increment, algorithm: Algorithm, nowSeconds: number): CounterState {
    return stateOf(this.#find(toKeptKey(key)), algorithm, nowSeconds);
  }

  /** Where the counter stood before the asks of the increment; undefined: no room for a new counter, nothing happened. */
  apply(increment: Increment, algorithm: Algorithm, nowSeconds: number): CounterState | undefined {
    const key = toKeptKey(increment.key);
    const counter = this.#find(key);
    const state = stateOf(counter, algorithm, nowSeconds);
    const asks = { hits: Number(increment.hits), times: increment.times ?? 1 };
    const after = applyAsks(algorithm, state, asks);
    if (after === undefined) return state;
    if (isUnused(after)) {
      if (counter !== undefined) this.#remove(counter);
      return state;
    }
    if (counter === undefined && !this.#makeRoom(bytesOf(key))) return undefined;
    this.#keep(counter ?? this.#add(key, algorithm), algorithm, after, nowSeconds);
    return state;
  }

  /** Hits in use, where the counter stands, and the seconds for which it is kept; undefined when there is none. */
  read(
    { key }: Pick<Increment, 'key'>,
    algorithm: Algorithm,
    nowSeconds: number,
  ): RollingEntry | undefined {
    const counter = this.#find(toKeptKey(key));
    if (counter === undefined) return undefined;
    const state = stateOf(counter, algorithm, nowSeconds);
    const ttlSeconds = counter.endSeconds - nowSeconds;
    return { value: usedHits(algorithm, state), state, ttlSeconds };
  }

  remove({ key }: Increment): void {
    const counter = this.#find(toKeptKey(key));
    if (counter !== undefined) this.#remove(counter);
  }

  /** Lets a counter stand at so many hits; false: no room for a new one. */
  set(increment: Increment, algorithm: Algorithm, used: number, nowSeconds: number): boolean {
    this.remove(increment);
    if (used === 0) return true;
    const key = toKeptKey(increment.key);
    if (!this.#makeRoom(bytesOf(key))) return false;
    const state = stateOfUsed(algorithm, used, tickAt(nowSeconds, algorithm.tickMicros));
    this.#keep(this.#add(key, algorithm), algorithm, state, nowSeconds);
    return true;
  }

  #keep(kept: RollingCounter, algorithm: Algorithm, after: CounterState, nowSeconds: number): void {
    kept.algorithm = algorithm;
    kept.used = after.used;
    kept.usedBefore = after.previous;
    kept.tick = tickAt(nowSeconds, algorithm.tickMicros) - after.elapsed;
    kept.endSeconds = Math.ceil(nowSeconds + lifetimeMs(algorithm, after) / 1_000);
    const { size } = algorithm;
    this.#slots.file(kept, usageQuartileOf(size - freeHits(algorithm, after), size), nowSeconds);
  }

  /** Counters that refuse one hit now, up to a number. */
  listOver(nowSeconds: number, most: number): Steps<readonly OverCounter[]> {
    return findOver(this.#counters(), most, (counter) => {
      if (counter.usageQuartile < USAGE_QUARTILES) return undefined;
      const { key, algorithm } = counter;
      const state = stateOf(counter, algorithm, nowSeconds);
      if (freeHits(algorithm, state) >= 1) return undefined;
      const { resetSeconds } = outcomeOf(algorithm, state, ONE_HIT, 1);
      const windowEndSeconds = Math.ceil(nowSeconds) + resetSeconds;
      const count = usedHits(algorithm, state);
      return { key, limit: algorithm.limit, count, windowEndSeconds };
    });
  }

  /** Drops counters that nothing of is in use, of at most so many that may have ended. */
  dropEnded(nowSeconds: number, most: number): void {
    for (let left = most; left > 0; left -= 1) {
      const counter = this.#slots.due(nowSeconds);
      if (counter === undefined) return;
      if (counter.endSeconds <= nowSeconds) this.#remove(counter);
      else this.#slots.move(counter, nowSeconds);
    }
  }

  /** Forgets a counter of which so many quarters of its limit are used; false when there is none. */
  evictOne(quartile: number): boolean {
    const counter = this.#slots.first(quartile);
    if (counter !== undefined) this.#remove(counter);
    return counter !== undefined;
  }

  clear(): void {
    for (const shard of this.#shards) shard.clear();
    this.#slots.clear();
    this.liveKeys = 0;
    this.bytes = 0;
  }

  *#counters(): Generator<RollingCounter, void> {
    for (const shard of this.#shards) yield* shard.values();
  }

  #find(key: string): RollingCounter | undefined {
    return shardOf(this.#shards, key, KEY_END).get(key);
  }

  #add(key: string, algorithm: Algorithm): RollingCounter {
    const counter: RollingCounter = {
      key,
      algorithm,
      used: 0,
      usedBefore: 0,
      tick: 0,
      endSeconds: 0,
      slot: undefined,
      usageQuartile: 0,
      previous: undefined,
      next: undefined,
    };
    shardOf(this.#shards, key, KEY_END).set(key, counter);
    this.liveKeys += 1;
    this.bytes += bytesOf(key);
    return counter;
  }

  #remove(counter: RollingCounter): void {
    shardOf(this.#shards, counter.key, KEY_END).delete(counter.key);
    this.#slots.remove(counter);
    this.liveKeys -= 1;
    this.bytes -= bytesOf(counter.key);
  }
}

function stateOf(
  counter: RollingCounter | undefined,
  algorithm: Algorithm,
  nowSeconds: number,
): CounterState {
  const tick = tickAt(nowSeconds, algorithm.tickMicros);
  if (counter === undefined) return unusedAt(algorithm, tick);
  const kept = { used: counter.used, previous: counter.usedBefore, elapsed: 0 };
  return stateAfter(algorithm, kept, tick - counter.tick);
}

/** The most that a counter of this key takes. */
function bytesOf(key: string): number {
  return COUNTER_BYTES + bytesOfText(key);
}
