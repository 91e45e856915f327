import { StoreError } from '../../core/errors';
import type { Increment } from '../../core/ports';
import type { Steps } from '../../core/steps';
import { addHits, type Count } from '../count';
import { findOver } from '../over-entries';
import { toKeptKey } from '../kept-key';
import type { OverKey } from '../over-limit-cache';
import {
  CounterSlots,
  createSlot,
  usageQuartileOf,
  type Filed,
  type CounterSlot,
} from './counter-slots';
import { createShards, shardOf, type Shards } from './ending-counters';

/** `_` and the ten digits of the window start: they are equal in a window. */
const KEY_END = 12;

/** Memory that V8 needs per counter besides the characters of its key, measured: an object, a string and a map entry. */
const COUNTER_BYTES = 160;

export interface LiveCounter extends Filed<LiveCounter> {
  count: number;
  /** The exact count where a double cannot hold it (above 2^53). */
  exact: bigint | undefined;
  /** The limit of its last increment. */
  limit: number;
  readonly expiresAtSeconds: number;
}

/** All counters whose windows end at the same second. */
interface WindowSlot extends CounterSlot<LiveCounter> {
  readonly shards: Shards<LiveCounter>;
}

export interface OverCounter extends OverKey {
  readonly count: number;
}

/** Makes room for one counter of this size; false when there is none. */
export type MakeRoom = (bytes: number) => boolean;

/** The counters of fixed windows: each window is dropped as a whole when it ends. */
export class WindowCounters {
  readonly slots = new CounterSlots<LiveCounter, WindowSlot>(
    (endSeconds) => ({ ...createSlot<LiveCounter>(endSeconds), shards: createShards() }),
    COUNTER_BYTES,
  );
  readonly #makeRoom: MakeRoom;
  readonly #forget = (slot: WindowSlot, counter: LiveCounter): void => {
    this.#remove(slot, counter);
  };

  constructor(makeRoom: MakeRoom) {
    this.#makeRoom = makeRoom;
  }

  countOf({ key, windowEndSeconds }: Increment): number {
    return find(this.slots.at(windowEndSeconds), toKeptKey(key))?.count ?? 0;
  }

  /** The count after adding `hits`; undefined: no room for a new counter. */
  add(increment: Increment, hits: Count, nowSeconds: number): number | StoreError | undefined {
    const slot = this.slots.at(increment.windowEndSeconds);
    const key = toKeptKey(increment.key);
    const counter = find(slot, key) ?? this.#create(slot, key, increment, nowSeconds);
    if (counter === undefined) return undefined;
    const sum = addHits(counter.exact ?? counter.count, hits);
    if (sum instanceof StoreError) return sum;
    this.#stand(slot, counter, sum, increment.limit);
    return counter.count;
  }

  find(key: string): LiveCounter | undefined {
    const kept = toKeptKey(key);
    for (const slot of this.slots.all) {
      const counter = find(slot, kept);
      if (counter !== undefined) return counter;
    }
    return undefined;
  }

  remove({ key, windowEndSeconds }: Increment): void {
    const slot = this.slots.at(windowEndSeconds);
    const counter = find(slot, toKeptKey(key));
    if (counter !== undefined) this.#remove(slot, counter);
  }

  /** Sets a counter to a number of hits; false: no room for a new one. */
  set(increment: Increment, used: number, nowSeconds: number): boolean {
    const slot = this.slots.at(increment.windowEndSeconds);
    const key = toKeptKey(increment.key);
    const counter = find(slot, key) ?? this.#create(slot, key, increment, nowSeconds);
    if (counter === undefined) return false;
    this.#stand(slot, counter, used, increment.limit);
    return true;
  }

  /** Drops every ended window: constant work per window, however large it is. */
  dropEnded(nowSeconds: number): void {
    const { slots } = this;
    while (slots.all[0] !== undefined && slots.all[0].endSeconds <= nowSeconds) slots.dropFirst();
  }

  /** Evicts one counter from the given usage quartile; false when there is none. */
  evictOne(quartile: number): boolean {
    return this.slots.evictOne(quartile, this.#forget);
  }

  /** Counters over their limit now, up to a number. */
  listOver(nowSeconds: number, most: number): Steps<readonly OverCounter[]> {
    return findOver(this.#withEnds(nowSeconds), most, ([counter, windowEndSeconds]) => {
      const { key, limit, count } = counter;
      return count > limit ? { key, limit, count, windowEndSeconds } : undefined;
    });
  }

  *counters(): Generator<LiveCounter, void> {
    for (const [counter] of this.#withEnds(-Infinity)) yield counter;
  }

  /** Counters of windows that have not ended, each with that end. */
  *#withEnds(nowSeconds: number): Generator<readonly [LiveCounter, endSeconds: number], void> {
    for (const { endSeconds, shards } of this.slots.all) {
      if (endSeconds <= nowSeconds) continue;
      for (const shard of shards) {
        for (const counter of shard.values()) yield [counter, endSeconds];
      }
    }
  }

  #stand(slot: WindowSlot, counter: LiveCounter, count: Count, limit: number): void {
    counter.count = Number(count);
    counter.exact = count > Number.MAX_SAFE_INTEGER ? BigInt(count) : undefined;
    counter.limit = limit;
    this.slots.classify(slot, counter, usageQuartileOf(counter.count, limit));
  }

  #create(
    slot: WindowSlot,
    key: string,
    { limit, ttlSeconds }: Increment,
    nowSeconds: number,
  ): LiveCounter | undefined {
    if (!this.#makeRoom(this.slots.bytesOf(key))) return undefined;
    const counter: LiveCounter = {
      key,
      count: 0,
      exact: undefined,
      limit,
      expiresAtSeconds: Math.ceil(nowSeconds) + ttlSeconds,
      usageQuartile: usageQuartileOf(0, limit),
      previous: undefined,
      next: undefined,
    };
    shardOf(slot.shards, key, KEY_END).set(key, counter);
    this.slots.add(slot, counter);
    return counter;
  }

  #remove(slot: WindowSlot, counter: LiveCounter): void {
    shardOf(slot.shards, counter.key, KEY_END).delete(counter.key);
    this.slots.remove(slot, counter);
  }
}

function find({ shards }: WindowSlot, key: string): LiveCounter | undefined {
  return shardOf(shards, key, KEY_END).get(key);
}
