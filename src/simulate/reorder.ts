/** A value and where it belongs in time. */
export interface Timed<T> {
  readonly timeSeconds: number;
  /** Tells equal times apart: what came first goes first. */
  readonly order: number;
  readonly value: T;
}

/**
 * Puts what comes up to `seconds` late into its place: a binary heap that gives out what nothing can come before any more.
 * Holds what lies within that time, so that a log with a burst in it needs memory for the burst.
 */
export class ReorderBuffer<T> {
  readonly #heap: Timed<T>[] = [];
  readonly #seconds: number;
  #newest = -Infinity;
  #order = 0;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** Adds a value; true when it came too late and was put at the newest time instead. */
  push(timeSeconds: number, value: T): boolean {
    const isLate = timeSeconds < this.#newest - this.#seconds;
    const placed = isLate ? this.#newest : timeSeconds;
    if (placed > this.#newest) this.#newest = placed;
    this.#heap.push({ timeSeconds: placed, order: this.#order++, value });
    this.#rise(this.#heap.length - 1);
    return isLate;
  }

  /** The earliest value whose time has passed; undefined when all may still be preceded. */
  shift(): Timed<T> | undefined {
    const [first] = this.#heap;
    if (first === undefined || first.timeSeconds > this.#newest - this.#seconds) return undefined;
    return this.#take();
  }

  /** The earliest value, whatever may come; undefined when there is none. */
  drain(): Timed<T> | undefined {
    return this.#heap.length === 0 ? undefined : this.#take();
  }

  #take(): Timed<T> {
    const heap = this.#heap;
    const first = heap[0] as Timed<T>;
    const last = heap.pop() as Timed<T>;
    if (heap.length > 0) {
      heap[0] = last;
      this.#sink(0);
    }
    return first;
  }

  #rise(index: number): void {
    const heap = this.#heap;
    let at = index;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at], heap[parent])) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(index: number): void {
    const heap = this.#heap;
    let at = index;
    for (;;) {
      const left = 2 * at + 1;
      const least = isBefore(heap[left + 1], heap[left]) ? left + 1 : left;
      if (!isBefore(heap[least], heap[at])) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    [heap[a], heap[b]] = [heap[b] as Timed<T>, heap[a] as Timed<T>];
  }
}

function isBefore<T>(a: Timed<T> | undefined, b: Timed<T> | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.timeSeconds < b.timeSeconds || (a.timeSeconds === b.timeSeconds && a.order < b.order);
}
