import { copyOf } from '../platform/copy-of';
import { bytesOfText } from './kept-key';
import type { Gate } from '../core/kinds/kind';
import type { KnownState } from '../core/kinds/refusal';

export interface OverEntry {
  /** The highest limit that the counter is known to have passed: it has passed every lower one too. */
  limit: number;
  accessSeconds: number;
  /** When it was seen to be over. */
  knownSeconds: number;
  /** Of a kind that looks. */
  readonly knownState?: FiledState;
  /** Under which it stood so. */
  readonly gate?: Gate;
}

interface FiledState extends KnownState {
  /** The second under which the entry is filed. */
  readonly filedSeconds: number;
}

/** Entries by key; the walk over the oldest of them goes on where it stopped. */
interface Filed {
  readonly entries: Map<string, OverEntry>;
  oldest: MapIterator<[string, OverEntry]>;
}

/** The entries that end together. Kinds that look may share a counter with one that does not: their entries differ. */
interface EndingTogether {
  readonly counts: Filed;
  readonly states: Filed;
}

/** What V8 takes for an entry besides the text of its key: two objects and a place in a map. */
const ENTRY_BYTES = 120;
/** The same of a state, with its place in the index. */
const STATE_BYTES = 168;

/**
 * Entries filed by the second at which they end: windows end together. States end at any second, and would need as many
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
  /** The entries with a state, whenever they end. */
  readonly #states = new Map<string, OverEntry>();
  #bytes = 0;
  #firstEnd = Infinity;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The entry of a counter that is known by a count alone. */
  countOf(key: string, endSeconds: number): OverEntry | undefined {
    return this.#byEnd.get(endSeconds)?.counts.entries.get(key);
  }

  /** The entry of a counter of which the state is known. */
  stateOf(key: string): OverEntry | undefined {
    return this.#states.get(key);
  }

  touch(entry: OverEntry, nowSeconds: number): void {
    this.accessSeconds += nowSeconds - entry.accessSeconds;
    entry.accessSeconds = nowSeconds;
  }

  /** Files an entry that was accessed now. */
  add(kept: string, entry: OverEntry, filedSeconds: number): void {
    const key = copyOf(kept);
    const { counts, states } = this.#endingAt(filedSeconds);
    if (entry.knownState === undefined) counts.entries.set(key, entry);
    else {
      states.entries.set(key, entry);
      this.#states.set(key, entry);
    }
    this.size += 1;
    this.#bytes += bytesOf(key, entry);
    this.accessSeconds += entry.accessSeconds;
    this.#makeRoom();
  }

  removeCount(key: string, endSeconds: number): void {
    const ending = this.#byEnd.get(endSeconds);
    if (ending !== undefined) this.#removeFrom(ending.counts.entries, key);
  }

  /** Whether there was such an entry. */
  removeState(key: string): boolean {
    const filedSeconds = this.#states.get(key)?.knownState?.filedSeconds;
    const ending = filedSeconds === undefined ? undefined : this.#byEnd.get(filedSeconds);
    return ending !== undefined && this.#removeFrom(ending.states.entries, key);
  }

  /** Removes the entries with one of the keys, whenever they end; undefined: all entries. */
  removeKeys(keys: readonly string[] | undefined): void {
    for (const { counts, states } of this.#byEnd.values())
      for (const { entries } of [counts, states])
        for (const key of keys ?? [...entries.keys()]) this.#removeFrom(entries, key);
  }

  dropEnded(nowSeconds: number): void {
    while (this.#firstEnd <= nowSeconds) {
      const { counts, states } = this.#byEnd.get(this.#firstEnd) as EndingTogether;
      this.expired += counts.entries.size + states.entries.size;
      for (const { entries } of [counts, states])
        for (const [key, entry] of entries) this.#forget(key, entry);
      this.#dropFirst();
    }
  }

  *[Symbol.iterator](): Generator<{ key: string; entry: OverEntry; endSeconds: number }> {
    for (const [endSeconds, { counts, states }] of this.#byEnd)
      for (const { entries } of [counts, states])
        for (const [key, entry] of entries) yield { key, entry, endSeconds };
  }

  #makeRoom(): void {
    while (this.#bytes > this.#maxBytes) {
      const { counts, states } = this.#byEnd.get(this.#firstEnd) as EndingTogether;
      if (this.#removeOldest(counts) || this.#removeOldest(states)) this.evacuated += 1;
      else this.#dropFirst();
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
    const ending = { counts: createFiled(), states: createFiled() };
    this.#byEnd.set(endSeconds, ending);
    this.#firstEnd = Math.min(this.#firstEnd, endSeconds);
    return ending;
  }

  #removeOldest(filed: Filed): boolean {
    const oldest = nextOldest(filed);
    return oldest !== undefined && this.#removeFrom(filed.entries, oldest);
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
    if (entry.knownState !== undefined) this.#states.delete(key);
    this.accessSeconds -= entry.accessSeconds;
  }
}

function createFiled(): Filed {
  const entries = new Map<string, OverEntry>();
  return { entries, oldest: entries.entries() };
}

function bytesOf(key: string, { knownState }: OverEntry): number {
  return ENTRY_BYTES + bytesOfText(key) + (knownState === undefined ? 0 : STATE_BYTES);
}

/**
 * The key of the oldest entry; undefined if there is none. A walk that began anew each time would pass over all places
 * whose entries have gone before. What comes after the end of a walk needs a new one.
 */
function nextOldest(filed: Filed): string | undefined {
  let next = filed.oldest.next();
  if (next.done === true) {
    filed.oldest = filed.entries.entries();
    next = filed.oldest.next();
  }
  return next.done === true ? undefined : next.value[0];
}
