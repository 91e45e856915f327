/** Cells of one byte over which keys are hashed: enough for few collisions, half a megabyte in all. */
const CELLS = 262_144;

/** Maximum of a cell. A key with this many hits per second is warm, however many more make a lease worthwhile. */
const MAX_HITS = 255;

/** `_` and the start of a window in Unix seconds, the suffix of keys. */
const WINDOW_LENGTH = 11;

/** Keys mostly differ in these characters; hashing more would cost as much as a map. */
const HASHED_LENGTH = 12;

const SPAN_MS = 1_000;

/**
 * Finds the keys with a minimal rate of hits, as `HitRate` counts them, with rare false positives by collision. Thus rarely used
 * keys, which most are, need no place in a table, however many there are.
 */
export class WarmKeys {
  readonly #leastHits: number;
  #hits = new Uint8Array(CELLS);
  #hitsBefore = new Uint8Array(CELLS);
  #startMs = -Infinity;

  constructor(leastHits: number) {
    this.#leastHits = Math.min(leastHits, MAX_HITS);
  }

  /** Counts hits of a key, and returns whether it is warm. */
  note(key: string, hits: number, nowMs: number): boolean {
    if (nowMs - this.#startMs >= SPAN_MS) this.#turn(nowMs);
    const cell = cellOf(key);
    const now = (this.#hits[cell] as number) + hits;
    this.#hits[cell] = Math.min(now, this.#leastHits);
    const rest = 1 - (nowMs - this.#startMs) / SPAN_MS;
    return now + (this.#hitsBefore[cell] as number) * rest >= this.#leastHits;
  }

  #turn(nowMs: number): void {
    const spent = this.#hitsBefore;
    this.#hitsBefore = this.#hits;
    this.#hits = spent.fill(0);
    if (nowMs - this.#startMs >= 2 * SPAN_MS) this.#hitsBefore.fill(0);
    this.#startMs = nowMs;
  }
}

function cellOf(key: string): number {
  const end = key.length - WINDOW_LENGTH;
  let hash = key.length;
  for (let at = Math.max(0, end - HASHED_LENGTH); at < end; at += 1)
    hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
  return (hash ^ (hash >>> 16)) & (CELLS - 1);
}
