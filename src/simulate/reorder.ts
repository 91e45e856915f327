/** A value and its time. */
export interface Timed<T> {
  readonly timeSeconds: number;
  /** Orders equal times: the first to come goes first. */
  readonly order: number;
  readonly value: T;
}

/**
 * Reorders values that come up to `seconds` late: values in order wait in a row, the others in a binary heap. Holds the values
 * within that time, so that a log with a burst in it needs memory for the burst.
 */
export class ReorderBuffer<T> {
  /** In order, from `#first` on. */
  #row: (Timed<T> | undefined)[] = [];
  #first = 0;
  readonly #heap: Timed<T>[] = [];
  readonly #seconds: number;
  #newest = -Infinity;
  #order = 0;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** Adds a value; true when it came too late and was moved to the newest time. */
  push(timeSeconds: number, value: T): boolean {
    const isLate = timeSeconds < this.#newest - this.#seconds;
    const placed = isLate ? this.#newest : timeSeconds;
    const timed = { timeSeconds: placed, order: this.#order++, value };
    if (placed >= this.#newest) {
      this.#newest = placed;
      this.#row.push(timed);
    } else {
      this.#heap.push(timed);
      this.#rise(this.#heap.length - 1);
    }
    return isLate;
  }

  /** The earliest value whose time has passed; undefined when an earlier one may still come. */
  shift(): Timed<T> | undefined {
    return this.#takeUpTo(this.#newest - this.#seconds);
  }

  /** The earliest value, whatever may come; undefined when there is none. */
  drain(): Timed<T> | undefined {
    return this.#takeUpTo(Infinity);
  }

  #takeUpTo(seconds: number): Timed<T> | undefined {
    const inRow = this.#row[this.#first];
    const [inHeap] = this.#heap;
    const isHeap = inHeap !== undefined && (inRow === undefined || isBefore(inHeap, inRow));
    const earliest = isHeap ? inHeap : inRow;
    if (earliest === undefined || earliest.timeSeconds > seconds) return undefined;
    if (isHeap) this.#takeFromHeap();
    else this.#takeFromRow();
    return earliest;
  }

  /** Empty slots are freed once they are half of the row: moving the rest costs no more than reading it did. */
  #takeFromRow(): void {
    this.#row[this.#first] = undefined;
    this.#first += 1;
    if (this.#first * 2 < this.#row.length) return;
    this.#row = this.#row.slice(this.#first);
    this.#first = 0;
  }

  #takeFromHeap(): void {
    const heap = this.#heap;
    const last = heap.pop() as Timed<T>;
    if (heap.length === 0) return;
    heap[0] = last;
    this.#sink(0);
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
