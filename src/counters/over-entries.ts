import { copyOf } from '../platform/copy-of';
import { dueSecondsOf } from './due-seconds';
import { bytesOfText } from './kept-key';
import type { Gate } from '../core/kinds/kind';
import type { KnownState } from '../core/kinds/refusal';

/** What is remembered of a counter that is over its limit. */
export interface OverEntry {
  /** The highest limit that the counter is known to have passed: it has passed every lower one too. */
  limit: number;
  accessSeconds: number;
  /** When it was seen to be over. */
  knownSeconds: number;
  /** Of a kind that looks. */
  readonly knownState?: KnownState;
  /** Under which it stood so. */
  readonly gate?: Gate;
}

/** The entries that end together; the walk over the oldest of them goes on where it stopped. */
interface EndingTogether {
  readonly entries: Map<string, OverEntry>;
  oldest: MapIterator<[string, OverEntry]>;
}

/** What V8 takes for an entry besides the text of its key: two objects and a place in a map. */
const ENTRY_BYTES = 120;
/** The same of a standing, with its place in the index of ends. */
const STATE_BYTES = 160;

/**
 * Entries filed by the second at which they end: windows end together. CounterStates end at any second, and would need as many
 * places: they are filed by their due times. Bounded in bytes: those of one second are dropped together when it comes; when
 * there is no room, the oldest of those that end soonest goes first.
 */
export class OverEntries {
  size = 0;
  /** Sum of the times of the last access. */
  accessSeconds = 0;
  expired = 0;
  evacuated = 0;
  readonly #maxBytes: number;
  readonly #byEnd = new Map<number, EndingTogether>();
  /** Under which second the entries with a standing are filed, by key. */
  readonly #ends = new Map<string, number>();
  #bytes = 0;
  #firstEnd = Infinity;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string, endSeconds: number | undefined): OverEntry | undefined {
    return endSeconds === undefined ? undefined : this.#byEnd.get(endSeconds)?.entries.get(key);
  }

  /** Under which second the entry with a standing is filed that has this key. */
  endOf(key: string): number | undefined {
    return this.#ends.get(key);
  }

  touch(entry: OverEntry, nowSeconds: number): void {
    this.accessSeconds += nowSeconds - entry.accessSeconds;
    entry.accessSeconds = nowSeconds;
  }

  /** Adds an entry that was accessed now. */
  add(kept: string, entry: OverEntry, endSeconds: number): void {
    const key = copyOf(kept);
    const hasState = entry.knownState !== undefined;
    const filed = hasState ? dueSecondsOf(endSeconds, entry.accessSeconds) : endSeconds;
    this.#endingAt(filed).entries.set(key, entry);
    if (hasState) this.#ends.set(key, filed);
    this.size += 1;
    this.#bytes += bytesOf(key, entry);
    this.accessSeconds += entry.accessSeconds;
    this.#makeRoom();
  }

  /** Whether there was such an entry. */
  remove(key: string, endSeconds: number | undefined): boolean {
    const ending = endSeconds === undefined ? undefined : this.#byEnd.get(endSeconds);
    return ending !== undefined && this.#removeFrom(ending.entries, key);
  }

  /** Removes the entries with one of the keys, whenever they end; undefined: all entries. */
  removeKeys(keys: readonly string[] | undefined): void {
    for (const { entries } of this.#byEnd.values()) {
      for (const key of keys ?? [...entries.keys()]) this.#removeFrom(entries, key);
    }
  }

  dropEnded(nowSeconds: number): void {
    while (this.#firstEnd <= nowSeconds) {
      const { entries: ended } = this.#byEnd.get(this.#firstEnd) as EndingTogether;
      this.expired += ended.size;
      for (const [key, entry] of ended) this.#forget(key, entry);
      this.#dropFirst();
    }
  }

  *[Symbol.iterator](): Generator<{ key: string; entry: OverEntry; endSeconds: number }> {
    for (const [endSeconds, { entries }] of this.#byEnd) {
      for (const [key, entry] of entries) yield { key, entry, endSeconds };
    }
  }

  #makeRoom(): void {
    while (this.#bytes > this.#maxBytes) {
      const first = this.#byEnd.get(this.#firstEnd) as EndingTogether;
      const oldest = nextOldest(first);
      if (oldest === undefined) this.#dropFirst();
      else {
        this.#removeFrom(first.entries, oldest);
        this.evacuated += 1;
      }
    }
  }

  #dropFirst(): void {
    this.#byEnd.delete(this.#firstEnd);
    this.#firstEnd = Infinity;
    for (const end of this.#byEnd.keys()) this.#firstEnd = Math.min(this.#firstEnd, end);
  }

  #endingAt(endSeconds: number): EndingTogether {
    const known = this.#byEnd.get(endSeconds);
    if (known !== undefined) return known;
    const entries = new Map<string, OverEntry>();
    const ending = { entries, oldest: entries.entries() };
    this.#byEnd.set(endSeconds, ending);
    this.#firstEnd = Math.min(this.#firstEnd, endSeconds);
    return ending;
  }

  #removeFrom(entries: Map<string, OverEntry>, key: string): boolean {
    const entry = entries.get(key);
    if (entry === undefined) return false;
    entries.delete(key);
    this.#forget(key, entry);
    return true;
  }

  #forget(key: string, entry: OverEntry): void {
    this.size -= 1;
    this.#bytes -= bytesOf(key, entry);
    if (entry.knownState !== undefined) this.#ends.delete(key);
    this.accessSeconds -= entry.accessSeconds;
  }
}

/** The most that an entry takes. */
function bytesOf(key: string, { knownState }: OverEntry): number {
  return ENTRY_BYTES + bytesOfText(key) + (knownState === undefined ? 0 : STATE_BYTES);
}

/**
 * The key of the oldest entry; undefined if there is none. A walk that began anew each time would pass over all places
 * whose entries have gone before. What comes after the end of a walk needs a new one.
 */
function nextOldest(ending: EndingTogether): string | undefined {
  let next = ending.oldest.next();
  if (next.done === true) {
    ending.oldest = ending.entries.entries();
    next = ending.oldest.next();
  }
  return next.done === true ? undefined : next.value[0];
}
