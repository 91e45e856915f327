import { copyOf } from '../platform/copy-of';
import { bytesOfText } from './kept-key';
import type { Limiter } from '../core/kinds/kind';
import type { KnownState } from '../core/kinds/refusal';
import type { Steps } from '../core/steps';

export interface OverEntry {
  /** The highest limit that the counter is known to exceed: it exceeds every lower one too. */
  limit: number;
  accessSeconds: number;
  /** When it was read as over. */
  knownSeconds: number;
  /** For a kind that reads first. */
  readonly knownState?: FiledState;
  /** The limiter of that state. */
  readonly limiter?: Limiter;
}

interface FiledState extends KnownState {
  /** The second under which the entry is filed. */
  readonly filedSeconds: number;
}

/** Entries by key; the iteration over the oldest of them continues where it stopped. */
interface Filed {
  readonly entries: Map<string, OverEntry>;
  oldest: MapIterator<[string, OverEntry]>;
}

/** The entries that expire together. Kinds that read first may share a counter with one that does not: their entries differ. */
interface EndingTogether {
  readonly counts: Filed;
  readonly states: Filed;
}

/** Memory that V8 needs per entry besides its key: two objects and a map slot. */
const ENTRY_BYTES = 120;
/** The same for a state, with its place in the index. */
const STATE_BYTES = 168;

/**
 * Entries filed by the second of their expiry: windows end together. States may expire at any second, and would need as many slots:
 * they are filed by due time. Bounded in bytes: entries of one second are dropped together when it comes; without room, the oldest
 * of those that expire soonest is evicted first.
 */
export class OverEntries {
  size = 0;
  /** Sum of the times of the last access. */
  accessSeconds = 0;
  expired = 0;
  evacuated = 0;
  readonly #maxBytes: number;
  readonly #byEnd = new Map<number, EndingTogether>();
  /** The entries with a state, at any expiry. */
  readonly #states = new Map<string, OverEntry>();
  #bytes = 0;
  #firstEnd = Infinity;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The entry of a counter that is known by its count only. */
  countOf(key: string, endSeconds: number): OverEntry | undefined {
    return this.#byEnd.get(endSeconds)?.counts.entries.get(key);
  }

  /** The entry of a counter whose state is known. */
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

  /** Returns whether there was such an entry. */
  removeState(key: string): boolean {
    const filedSeconds = this.#states.get(key)?.knownState?.filedSeconds;
    const ending = filedSeconds === undefined ? undefined : this.#byEnd.get(filedSeconds);
    return ending !== undefined && this.#removeFrom(ending.states.entries, key);
  }

  /** Removes the entries with one of the keys, at any expiry; undefined: all entries. */
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
 * The key of the oldest entry; undefined if there is none. A new iteration each time would pass over the slots of all removed
 * entries. An iteration that has ended misses later entries and is replaced.
 */
function nextOldest(filed: Filed): string | undefined {
  let next = filed.oldest.next();
  if (next.done === true) {
    filed.oldest = filed.entries.entries();
    next = filed.oldest.next();
  }
  return next.done === true ? undefined : next.value[0];
}

/** Counters visited by one search for those over their limit. */
const MAX_VISITS = 1_000_000;

/** Counters visited per step: a fraction of a millisecond. */
const VISITS_OF_STEP = 1_024;

/**
 * The first `most` results among the counters that one search visits. Counters may change between two steps: `counters` must be an
 * iteration that tolerates that, as a map's does.
 */
export function* findOver<T, Found>(
  counters: Iterable<T>,
  most: number,
  toFound: (counter: T) => Found | undefined,
): Steps<readonly Found[]> {
  const found: Found[] = [];
  let visits = 0;
  for (const counter of counters) {
    if (found.length >= most || visits >= MAX_VISITS) break;
    visits += 1;
    const one = toFound(counter);
    if (one !== undefined) found.push(one);
    if (visits % VISITS_OF_STEP === 0) yield;
  }
  return found;
}
