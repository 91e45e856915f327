import { UnreadableLine, type LogRecord, type ReadRecord } from './log-record';
import type { SimulateOptions } from './options';

/** A longer line is unreadable: no log of requests has one. */
const MAX_LINE_CHARACTERS = 1_048_576;
const SHOWN_UNREADABLE = 5;

type ReadOptions = Pick<SimulateOptions, 'reorderSeconds' | 'fromSeconds' | 'toSeconds'>;

export function createLineCounts() {
  return {
    read: 0,
    /** Lines that were decided. */
    requests: 0,
    /** Lines from which a map made no descriptor. */
    withoutDescriptors: 0,
    outsideOfTimes: 0,
    /** Lines that were later than `-reorder`, and were moved to the newest time. */
    late: 0,
    unreadable: 0,
    /** The first of these. */
    firstUnreadable: [] as { readonly line: number; readonly reason: string }[],
  };
}

export type LineCounts = ReturnType<typeof createLineCounts>;

/** A log as pieces of text of any length, and the format of its lines. */
export interface Log {
  readonly chunks: AsyncIterable<string>;
  readonly readRecord: ReadRecord;
}

/** Reads a log to its end and emits its requests in the order of their times, one after another. */
export async function readLog(
  { chunks, readRecord }: Log,
  options: ReadOptions,
  counts: LineCounts,
  take: (record: LogRecord) => Promise<void>,
): Promise<void> {
  const waiting = new ReorderBuffer<LogRecord>(options.reorderSeconds);
  const readLine = (line: string) => {
    const record = tryRead(line, readRecord, counts);
    if (record === undefined) return;
    const { timeSeconds } = record;
    if (timeSeconds < options.fromSeconds || timeSeconds >= options.toSeconds) {
      counts.outsideOfTimes += 1;
    } else if (waiting.push(timeSeconds, record)) counts.late += 1;
  };
  const next = (timed: { timeSeconds: number; value: LogRecord }) => {
    const { timeSeconds, value } = timed;
    counts.requests += 1;
    return take(value.timeSeconds === timeSeconds ? value : { ...value, timeSeconds });
  };

  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_CHARACTERS + 1);
    for (const line of lines) readLine(line);
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) await next(at);
  }
  readLine(rest);
  for (let at = waiting.drain(); at !== undefined; at = waiting.drain()) await next(at);
}

function tryRead(line: string, readRecord: ReadRecord, counts: LineCounts): LogRecord | undefined {
  if (line.trim() === '') return undefined;
  counts.read += 1;
  try {
    if (line.length > MAX_LINE_CHARACTERS) throw new UnreadableLine('the line is too long');
    const record = readRecord(line);
    if (record === undefined) counts.withoutDescriptors += 1;
    return record;
  } catch (error) {
    if (!(error instanceof UnreadableLine)) throw error;
    counts.unreadable += 1;
    if (counts.firstUnreadable.length < SHOWN_UNREADABLE) {
      counts.firstUnreadable.push({ line: counts.read, reason: error.message });
    }
    return undefined;
  }
}

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
