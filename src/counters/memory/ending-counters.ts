import { dueSecondsOf } from '../due-seconds';
import { CounterSlots, createSlot, type CounterSlot, type Filed } from './counter-slots';

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

/** `_1s~g`, the shortest suffix of a key. */
const KEY_END = 5;

/** A counter whose expiry moves with every hit. */
export interface EndingCounter<C> extends Filed<C> {
  /** Unix second from which it is equivalent to a missing counter. */
  endSeconds: number;
  /** Its current slot; undefined before it has one. */
  slot: CounterSlot<C> | undefined;
}

/**
 * Counters whose expiry moves. Keeping one longer changes no answer, so they are dropped little by little: each is filed under its
 * due time (`dueSecondsOf`), in some hundred slots for any number of counters, and stays there until then, wherever its expiry
 * moves meanwhile.
 */
export class EndingCounters<C extends EndingCounter<C>> {
  readonly slots: CounterSlots<C, CounterSlot<C>>;
  readonly #shards = createShards<C>();
  readonly #onRemoved: ((counter: C) => void) | undefined;
  readonly #forget = (_: unknown, counter: C): void => {
    this.remove(counter);
  };

  /** `counterBytes`: memory per counter besides the characters of its key. */
  constructor(counterBytes: number, onRemoved?: (counter: C) => void) {
    this.slots = new CounterSlots<C, CounterSlot<C>>(createSlot, counterBytes);
    this.#onRemoved = onRemoved;
  }

  find(key: string): C | undefined {
    return shardOf(this.#shards, key, KEY_END).get(key);
  }

  /** Adds a new counter, which `keep` will file. */
  add(counter: C): void {
    shardOf(this.#shards, counter.key, KEY_END).set(counter.key, counter);
  }

  /** Files a counter by its expiry and its usage, after either has changed. */
  keep(counter: C, usageQuartile: number, nowSeconds: number): void {
    if (counter.slot !== undefined) this.slots.classify(counter.slot, counter, usageQuartile);
    else {
      counter.usageQuartile = usageQuartile;
      this.#file(counter, nowSeconds);
    }
  }

  remove(counter: C): void {
    shardOf(this.#shards, counter.key, KEY_END).delete(counter.key);
    if (counter.slot !== undefined) this.slots.remove(counter.slot, counter);
    this.#onRemoved?.(counter);
  }

  /** Removes expired counters, examining at most `most`. */
  dropEnded(nowSeconds: number, most: number): void {
    const { slots } = this;
    for (let left = most; left > 0;) {
      const slot = slots.all[0];
      if (slot === undefined || slot.endSeconds > nowSeconds) return;
      const counter = firstOf(slot);
      if (counter === undefined) {
        slots.dropFirst();
        continue;
      }
      left -= 1;
      if (counter.endSeconds <= nowSeconds) this.remove(counter);
      else {
        slots.remove(slot, counter);
        this.#file(counter, nowSeconds);
      }
    }
  }

  /** Evicts one counter from the given usage quartile; false when there is none. */
  evictOne(quartile: number): boolean {
    return this.slots.evictOne(quartile, this.#forget);
  }

  clear(): void {
    for (const shard of this.#shards) shard.clear();
    this.slots.clear();
  }

  *all(): Generator<C, void> {
    for (const shard of this.#shards) yield* shard.values();
  }

  #file(counter: C, nowSeconds: number): void {
    counter.slot = this.slots.at(dueSecondsOf(counter.endSeconds, nowSeconds));
    this.slots.add(counter.slot, counter);
  }
}

function firstOf<C>({ lists }: CounterSlot<C>): C | undefined {
  for (const { first } of lists) if (first !== undefined) return first;
  return undefined;
}
