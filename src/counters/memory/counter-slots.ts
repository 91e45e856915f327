import { bytesOfText } from '../kept-key';

/** Counters are listed by the used quarter of their limit, so that the least used are evicted first. */
export const USAGE_QUARTILES = 4;

/** For a counter that has reached its limit: it is never evicted. */
const AT_LIMIT = USAGE_QUARTILES;

export interface Filed<C> {
  readonly key: string;
  usageQuartile: number;
  previous: C | undefined;
  next: C | undefined;
}

/** The counters that may expire at one second. */
export interface CounterSlot<C> {
  readonly endSeconds: number;
  size: number;
  /** The memory of its counters. */
  bytes: number;
  /** By usage quartile; the last list is of counters at their limit. */
  readonly lists: readonly LinkedList<C>[];
}

export function createSlot<C>(endSeconds: number): CounterSlot<C> {
  const lists = Array.from({ length: USAGE_QUARTILES + 1 }, () => ({
    first: undefined,
    last: undefined,
  }));
  return { endSeconds, size: 0, bytes: 0, lists };
}

/** A limit of 0 is exceeded by any count, so that evicting such a counter lets no request through. */
export function usageQuartileOf(count: number, limit: number): number {
  if (limit === 0) return 0;
  return count >= limit ? AT_LIMIT : Math.floor((count * USAGE_QUARTILES) / limit);
}

/** All counters of one sort by the second at which they may expire, soonest first, with their memory. */
export class CounterSlots<C extends Filed<C>, S extends CounterSlot<C>> {
  liveKeys = 0;
  /** An upper bound of their memory. */
  bytes = 0;
  readonly #create: (endSeconds: number) => S;
  readonly #counterBytes: number;
  readonly #byEnd = new Map<number, S>();
  #ordered: readonly S[] = [];
  #latest: S | undefined;

  /** `counterBytes`: memory per counter besides the characters of its key. */
  constructor(create: (endSeconds: number) => S, counterBytes: number) {
    this.#create = create;
    this.#counterBytes = counterBytes;
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

  /** An upper bound of the memory of a counter with this key. */
  bytesOf(key: string): number {
    return this.#counterBytes + bytesOfText(key);
  }

  add(slot: S, counter: C): void {
    append(listOf(slot, counter), counter);
    this.#grow(slot, 1, this.bytesOf(counter.key));
  }

  remove(slot: S, counter: C): void {
    unlink(listOf(slot, counter), counter);
    this.#grow(slot, -1, -this.bytesOf(counter.key));
  }

  /** Moves a counter to the list of its quartile after its count or limit has changed. */
  classify(slot: S, counter: C, usageQuartile: number): void {
    if (usageQuartile === counter.usageQuartile) return;
    unlink(listOf(slot, counter), counter);
    counter.usageQuartile = usageQuartile;
    append(listOf(slot, counter), counter);
  }

  /** Drops the first slot: constant work, however large it is. */
  dropFirst(): void {
    const [first, ...others] = this.#ordered;
    if (first === undefined) return;
    this.liveKeys -= first.size;
    this.bytes -= first.bytes;
    this.#byEnd.delete(first.endSeconds);
    if (this.#latest === first) this.#latest = undefined;
    this.#ordered = others;
  }

  /** Evicts one counter from the given usage quartile, the soonest to expire; false when there is none. */
  evictOne(quartile: number, forget: (slot: S, counter: C) => void): boolean {
    for (const slot of this.#ordered) {
      const counter = slot.lists[quartile]?.first;
      if (counter === undefined) continue;
      forget(slot, counter);
      return true;
    }
    return false;
  }

  clear(): void {
    this.#byEnd.clear();
    this.#ordered = [];
    this.#latest = undefined;
    this.liveKeys = 0;
    this.bytes = 0;
  }

  #open(endSeconds: number): S {
    const slot = this.#create(endSeconds);
    this.#byEnd.set(endSeconds, slot);
    this.#ordered = [...this.#ordered, slot].sort((a, b) => a.endSeconds - b.endSeconds);
    return slot;
  }

  #grow(slot: S, counters: number, bytes: number): void {
    slot.size += counters;
    slot.bytes += bytes;
    this.liveKeys += counters;
    this.bytes += bytes;
  }
}

function listOf<C extends Filed<C>>(
  { lists }: CounterSlot<C>,
  { usageQuartile }: C,
): LinkedList<C> {
  return lists[usageQuartile] as LinkedList<C>;
}

interface LinkedList<T> {
  first: T | undefined;
  last: T | undefined;
}

interface Linked {
  previous: this | undefined;
  next: this | undefined;
}

/** Appending and unlinking are constant work. */
function append<T extends Linked>(list: LinkedList<T>, entry: T): void {
  entry.previous = list.last;
  entry.next = undefined;
  if (list.last === undefined) list.first = entry;
  else list.last.next = entry;
  list.last = entry;
}

function unlink<T extends Linked>(list: LinkedList<T>, entry: T): void {
  if (entry.previous === undefined) list.first = entry.next;
  else entry.previous.next = entry.next;
  if (entry.next === undefined) list.last = entry.previous;
  else entry.next.previous = entry.previous;
  entry.previous = undefined;
  entry.next = undefined;
}
