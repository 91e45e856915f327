import { dueSecondsOf } from '../due-seconds';
import { CounterSlots, createSlot, moveIn, type CounterSlot } from './counter-slots';
import { CounterTable, type CounterId } from './counter-table';
import type { KeyReader } from './key-reader';
import { NONE } from './record-pages';

/** Numbers of every counter: the Unix second from which it is equivalent to a missing one, and that of its slot, 0 before it has one. */
const END = 0;
const FILED = 1;
/** Its other numbers begin here. */
export const OWN = 2;

export interface EndingCountersOptions {
  /** Numbers of each counter, besides those of all. */
  readonly numbers: number;
  readonly key: KeyReader;
  /** A counter is about to be removed. */
  readonly onRemoved: (id: CounterId) => void;
  readonly onMoved: (from: CounterId, to: CounterId) => void;
}

/**
 * Counters whose expiry moves with every hit. Keeping one longer changes no answer, so they are dropped little by little: each is filed
 * under its due time (`dueSecondsOf`), in some hundred slots for any number of counters, and stays there until then, wherever its
 * expiry moves meanwhile.
 */
export class EndingCounters {
  table: CounterTable;
  readonly slots: CounterSlots;
  readonly #options: EndingCountersOptions;
  readonly #forget = (_: unknown, id: CounterId): void => {
    this.remove(id);
  };

  constructor(options: EndingCountersOptions) {
    this.#options = options;
    this.table = this.#createTable();
    this.slots = new CounterSlots((endSeconds) => createSlot(endSeconds, this.table));
  }

  /** NONE: it is missing. */
  find(key: string): CounterId {
    return this.table.find(key);
  }

  /** Adds a new counter, which `keep` will file. */
  add(key: string): CounterId {
    return this.table.add(key);
  }

  endSeconds(id: CounterId): number {
    return this.table.number(id, END);
  }

  /** Files a counter by its expiry and its usage, after either has changed. */
  keep(id: CounterId, endSeconds: number, usageQuartile: number, nowSeconds: number): void {
    this.table.setNumber(id, END, endSeconds);
    if (!this.isFiled(id)) this.#file(id, usageQuartile, nowSeconds);
    else if (usageQuartile !== this.table.list(id)) this.classify(id, usageQuartile);
  }

  /** Whether it has a slot; its list there says how much of its limit is used. */
  isFiled(id: CounterId): boolean {
    return this.table.number(id, FILED) !== 0;
  }

  /** Puts a filed counter into the list of another quartile. */
  classify(id: CounterId, usageQuartile: number): void {
    const slot = this.#slotOf(id);
    if (slot !== undefined) this.slots.classify(slot, id, usageQuartile);
  }

  remove(id: CounterId): void {
    this.#options.onRemoved(id);
    const slot = this.#slotOf(id);
    if (slot !== undefined) this.slots.remove(slot, id);
    this.table.remove(id);
  }

  /** Removes expired counters, examining at most `most`. */
  dropEnded(nowSeconds: number, most: number): void {
    const { slots, table } = this;
    for (let left = most; left > 0;) {
      const slot = slots.all[0];
      if (slot === undefined || slot.endSeconds > nowSeconds) return;
      const id = firstOf(slot);
      if (id === NONE) {
        slots.dropFirst();
        continue;
      }
      left -= 1;
      if (this.endSeconds(id) <= nowSeconds) this.remove(id);
      else {
        const quartile = table.list(id);
        slots.remove(slot, id);
        this.#file(id, quartile, nowSeconds);
      }
    }
  }

  /** Evicts one counter from the given usage quartile; false when there is none. */
  evictOne(quartile: number): boolean {
    return this.slots.evictOne(quartile, this.#forget);
  }

  clear(): void {
    this.slots.clear();
    this.table = this.#createTable();
  }

  #createTable(): CounterTable {
    const { numbers, key, onMoved } = this.#options;
    return new CounterTable(OWN + numbers, key, (from, to) => {
      const slot = this.#slotOf(to);
      if (slot !== undefined) moveIn(slot, from, to);
      onMoved(from, to);
    });
  }

  #slotOf(id: CounterId): CounterSlot | undefined {
    const filedSeconds = this.table.number(id, FILED);
    return filedSeconds === 0 ? undefined : this.slots.at(filedSeconds);
  }

  #file(id: CounterId, usageQuartile: number, nowSeconds: number): void {
    const dueSeconds = dueSecondsOf(this.endSeconds(id), nowSeconds);
    this.table.setNumber(id, FILED, dueSeconds);
    this.slots.add(this.slots.at(dueSeconds), id, usageQuartile);
  }
}

function firstOf({ lists }: CounterSlot): CounterId {
  for (const { first } of lists) if (first !== NONE) return first;
  return NONE;
}
