import type { CounterId, CounterTable } from './counter-table';
import { NONE } from './record-pages';

/** Counters are listed by the used quarter of their limit, so that the least used are evicted first. */
export const USAGE_QUARTILES = 4;

/** For a counter that has reached its limit: it is never evicted. */
const AT_LIMIT = USAGE_QUARTILES;

/** The counters that may expire at one second. */
export interface CounterSlot {
  readonly endSeconds: number;
  readonly table: CounterTable;
  size: number;
  /** By usage quartile, those that have been there for longest first; the last list is of counters at their limit. */
  readonly lists: readonly CounterList[];
}

interface CounterList {
  first: CounterId;
  last: CounterId;
}

export function createSlot(endSeconds: number, table: CounterTable): CounterSlot {
  const lists = Array.from({ length: USAGE_QUARTILES + 1 }, () => ({ first: NONE, last: NONE }));
  return { endSeconds, table, size: 0, lists };
}

/** A limit of 0 is exceeded by any count, so that evicting such a counter lets no request through. */
export function usageQuartileOf(count: number, limit: number): number {
  if (limit === 0) return 0;
  return count >= limit ? AT_LIMIT : Math.floor((count * USAGE_QUARTILES) / limit);
}

/** All counters of one sort by the second at which they may expire, soonest first. */
export class CounterSlots<S extends CounterSlot = CounterSlot> {
  liveKeys = 0;
  readonly #create: (endSeconds: number) => S;
  readonly #byEnd = new Map<number, S>();
  #ordered: readonly S[] = [];
  #latest: S | undefined;

  constructor(create: (endSeconds: number) => S) {
    this.#create = create;
  }

  at(endSeconds: number): S {
    if (this.#latest?.endSeconds === endSeconds) return this.#latest;
    this.#latest = this.#byEnd.get(endSeconds) ?? this.#open(endSeconds);
    return this.#latest;
  }

  /** Soonest first. */
  get all(): readonly S[] {
    return this.#ordered;
  }

  add(slot: S, id: CounterId, usageQuartile: number): void {
    append(slot, id, usageQuartile);
    slot.size += 1;
    this.liveKeys += 1;
  }

  remove(slot: S, id: CounterId): void {
    unlink(slot, id);
    slot.size -= 1;
    this.liveKeys -= 1;
  }

  /** Moves a counter to the list of its quartile after its count or limit has changed. */
  classify(slot: S, id: CounterId, usageQuartile: number): void {
    if (usageQuartile === slot.table.list(id)) return;
    unlink(slot, id);
    append(slot, id, usageQuartile);
  }

  /** Drops the first slot: constant work, however large it is. */
  dropFirst(): void {
    const [first, ...others] = this.#ordered;
    if (first === undefined) return;
    this.liveKeys -= first.size;
    this.#byEnd.delete(first.endSeconds);
    if (this.#latest === first) this.#latest = undefined;
    this.#ordered = others;
  }

  /** Evicts one counter from the given usage quartile, the soonest to expire; false when there is none. */
  evictOne(quartile: number, forget: (slot: S, id: CounterId) => void): boolean {
    for (const slot of this.#ordered) {
      const { first = NONE } = slot.lists[quartile] ?? {};
      if (first === NONE) continue;
      forget(slot, first);
      return true;
    }
    return false;
  }

  clear(): void {
    this.#byEnd.clear();
    this.#ordered = [];
    this.#latest = undefined;
    this.liveKeys = 0;
  }

  #open(endSeconds: number): S {
    const slot = this.#create(endSeconds);
    this.#byEnd.set(endSeconds, slot);
    this.#ordered = [...this.#ordered, slot].sort((a, b) => a.endSeconds - b.endSeconds);
    return slot;
  }
}

/** The table has moved a counter of this slot. */
export function moveIn({ lists, table }: CounterSlot, from: CounterId, to: CounterId): void {
  const list = lists[table.list(to)] as CounterList;
  if (list.first === from) list.first = to;
  if (list.last === from) list.last = to;
}

/** Appending and unlinking are constant work. */
function append({ lists, table }: CounterSlot, id: CounterId, usageQuartile: number): void {
  const list = lists[usageQuartile] as CounterList;
  table.setList(id, usageQuartile);
  table.setPrevious(id, list.last);
  table.setNext(id, NONE);
  if (list.last === NONE) list.first = id;
  else table.setNext(list.last, id);
  list.last = id;
}

function unlink({ lists, table }: CounterSlot, id: CounterId): void {
  const list = lists[table.list(id)] as CounterList;
  const [previous, next] = [table.previous(id), table.next(id)];
  if (previous === NONE) list.first = next;
  else table.setNext(previous, next);
  if (next === NONE) list.last = previous;
  else table.setPrevious(next, previous);
}
