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
  moveIn,
  usageQuartileOf,
  type CounterSlot,
} from './counter-slots';
import { CounterTable, type CounterId } from './counter-table';
import type { KeyReader } from './key-reader';
import { NONE } from './record-pages';

/** Numbers of a counter: its hits, and the limit of its last increment. Its note: seconds for which it is kept after its window. */
const COUNT = 0;
const LIMIT = 1;
const NUMBERS = 2;

/** All counters whose windows end at the same second. */
interface WindowSlot extends CounterSlot {
  /** Exact counts that a double cannot hold (above 2^53). */
  readonly exact: Map<CounterId, bigint>;
}

/** A counter's exact count, and until when a store would keep it. */
export interface LiveCounter {
  readonly key: string;
  readonly count: number | bigint;
  readonly expiresAtSeconds: number;
}

export interface OverCounter extends OverKey {
  readonly count: number;
}

/** Makes room for one counter of this size; false when there is none. */
export type MakeRoom = (bytes: number) => boolean;

/** The counters of fixed windows: each window is dropped as a whole when it ends. */
export class WindowCounters {
  readonly slots: CounterSlots<WindowSlot>;
  /** An upper bound of their memory. */
  bytes = 0;
  readonly #makeRoom: MakeRoom;
  readonly #forget = (slot: WindowSlot, id: CounterId): void => {
    this.#remove(slot, id);
  };

  constructor(makeRoom: MakeRoom, key: KeyReader) {
    this.#makeRoom = makeRoom;
    this.slots = new CounterSlots((endSeconds) => {
      const slot = createWindowSlot(endSeconds, key);
      this.bytes += slot.table.bytes;
      return slot;
    });
  }

  countOf({ key, windowEndSeconds }: Increment): number {
    const { table } = this.slots.at(windowEndSeconds);
    const id = table.find(toKeptKey(key));
    return id === NONE ? 0 : table.number(id, COUNT);
  }

  /** The count after adding `hits`; undefined: no room for a new counter. */
  add(increment: Increment, hits: Count, nowSeconds: number): number | StoreError | undefined {
    const slot = this.slots.at(increment.windowEndSeconds);
    const id = this.#findOrCreate(slot, increment, nowSeconds);
    if (id === NONE) return undefined;
    const sum = addHits(countOf(slot, id), hits);
    if (sum instanceof StoreError) return sum;
    return this.#stand(slot, id, sum, increment.limit);
  }

  find(key: string): LiveCounter | undefined {
    const kept = toKeptKey(key);
    for (const slot of this.slots.all) {
      const id = slot.table.find(kept);
      if (id !== NONE) return liveCounter(slot, id);
    }
    return undefined;
  }

  remove({ key, windowEndSeconds }: Increment): void {
    const slot = this.slots.at(windowEndSeconds);
    const id = slot.table.find(toKeptKey(key));
    if (id !== NONE) this.#remove(slot, id);
  }

  /** Sets a counter to a number of hits; false: no room for a new one. */
  set(increment: Increment, used: number, nowSeconds: number): boolean {
    const slot = this.slots.at(increment.windowEndSeconds);
    const id = this.#findOrCreate(slot, increment, nowSeconds);
    if (id === NONE) return false;
    this.#stand(slot, id, used, increment.limit);
    return true;
  }

  /** Drops every ended window: little work per window, however large it is. */
  dropEnded(nowSeconds: number): void {
    for (let [first] = this.slots.all; first !== undefined; [first] = this.slots.all) {
      if (first.endSeconds > nowSeconds) return;
      this.bytes -= first.table.bytes;
      this.slots.dropFirst();
    }
  }

  /** Evicts one counter from the given usage quartile; false when there is none. */
  evictOne(quartile: number): boolean {
    return this.slots.evictOne(quartile, this.#forget);
  }

  /** Counters over their limit now, up to a number. */
  listOver(nowSeconds: number, most: number): Steps<readonly OverCounter[]> {
    return findOver(this.#withSlots(nowSeconds), most, ([{ table, endSeconds }, id]) => {
      const [count, limit] = [table.number(id, COUNT), table.number(id, LIMIT)];
      if (count <= limit) return undefined;
      return { key: table.keyOf(id), limit, count, windowEndSeconds: endSeconds };
    });
  }

  *counters(): Generator<LiveCounter, void> {
    for (const [slot, id] of this.#withSlots(-Infinity)) yield liveCounter(slot, id);
  }

  clear(): void {
    this.slots.clear();
    this.bytes = 0;
  }

  /** Counters of windows that have not ended. */
  *#withSlots(nowSeconds: number): Generator<readonly [WindowSlot, CounterId], void> {
    for (const slot of this.slots.all) {
      if (slot.endSeconds <= nowSeconds) continue;
      for (const id of slot.table.all()) yield [slot, id];
    }
  }

  #stand(slot: WindowSlot, id: CounterId, count: Count, limit: number): number {
    const rounded = Number(count);
    slot.table.setNumber(id, COUNT, rounded);
    slot.table.setNumber(id, LIMIT, limit);
    if (rounded > Number.MAX_SAFE_INTEGER) slot.exact.set(id, BigInt(count));
    else if (slot.exact.size > 0) slot.exact.delete(id);
    this.slots.classify(slot, id, usageQuartileOf(rounded, limit));
    return rounded;
  }

  #findOrCreate(slot: WindowSlot, increment: Increment, nowSeconds: number): CounterId {
    const key = toKeptKey(increment.key);
    const known = slot.table.find(key);
    return known === NONE ? this.#create(slot, key, increment, nowSeconds) : known;
  }

  #create(
    slot: WindowSlot,
    key: string,
    { limit, ttlSeconds }: Increment,
    nowSeconds: number,
  ): CounterId {
    const { table, endSeconds } = slot;
    if (!this.#makeRoom(table.bytesOf(key))) return NONE;
    const before = table.bytes;
    const id = table.add(key);
    this.bytes += table.bytes - before;
    table.setNote(id, Math.ceil(nowSeconds) + ttlSeconds - endSeconds);
    this.slots.add(slot, id, usageQuartileOf(0, limit));
    return id;
  }

  #remove(slot: WindowSlot, id: CounterId): void {
    const { table, exact } = slot;
    this.slots.remove(slot, id);
    exact.delete(id);
    const before = table.bytes;
    table.remove(id);
    this.bytes += table.bytes - before;
  }
}

function createWindowSlot(endSeconds: number, key: KeyReader): WindowSlot {
  const exact = new Map<CounterId, bigint>();
  const table = new CounterTable(NUMBERS, key, (from, to) => {
    moveIn(slot, from, to);
    const count = exact.get(from);
    if (count === undefined) return;
    exact.delete(from);
    exact.set(to, count);
  });
  const slot = { ...createSlot(endSeconds, table), exact };
  return slot;
}

function countOf({ table, exact }: WindowSlot, id: CounterId): number | bigint {
  const count = table.number(id, COUNT);
  return count > Number.MAX_SAFE_INTEGER ? (exact.get(id) ?? count) : count;
}

function liveCounter(slot: WindowSlot, id: CounterId): LiveCounter {
  const { table, endSeconds } = slot;
  // Below 0 for a limit that a store keeps for less than its window.
  const afterSeconds = table.note(id) | 0;
  const expiresAtSeconds = endSeconds + afterSeconds;
  return { key: table.keyOf(id), count: countOf(slot, id), expiresAtSeconds };
}
