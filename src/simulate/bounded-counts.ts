import { copyOf } from '../platform/copy-of';

/** The most that V8 needs per character. */
const CHARACTER_BYTES = 2;

/** Memory that V8 needs per entry besides the characters of its name: an object, a string and a map entry. */
const ENTRY_BYTES = 200;

/** Room for some 60,000 names of 40 characters. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Values by name: keeps the first names that fit the byte limit, and counts accesses of the others. */
export class BoundedMap<T> {
  /** Number of accesses of names without room. */
  others = 0;
  readonly #values = new Map<string, T>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The value of a name, made on first use; undefined: no room for another name. */
  at(name: string, make: (name: string) => T): T | undefined {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const bytes = ENTRY_BYTES + CHARACTER_BYTES * name.length;
    if (this.#bytes + bytes > this.#maxBytes) {
      this.others += 1;
      return undefined;
    }
    const kept = copyOf(name);
    const value = make(kept);
    this.#values.set(kept, value);
    this.#bytes += bytes;
    return value;
  }

  values(): T[] {
    return [...this.#values.values()];
  }
}

const FIRST_SLOTS = 1_024;

/** Counts distinct strings by hashes of 52 bits, 16 bytes each: with a million, one run of ten thousand counts two as one. */
export class DistinctNames {
  #slots = new Float64Array(FIRST_SLOTS);
  #size = 0;

  /** True when the string is new. */
  add(text: string): boolean {
    if (!insert(this.#slots, hashOf(text))) return false;
    this.#size += 1;
    if (this.#size * 2 > this.#slots.length) this.#grow();
    return true;
  }

  get size(): number {
    return this.#size;
  }

  #grow(): void {
    const grown = new Float64Array(this.#slots.length * 2);
    for (const hash of this.#slots) if (hash !== 0) insert(grown, hash);
    this.#slots = grown;
  }
}

function insert(slots: Float64Array, hash: number): boolean {
  const mask = slots.length - 1;
  let at = (hash >>> 0) & mask;
  while (slots[at] !== 0) {
    if (slots[at] === hash) return false;
    at = (at + 1) & mask;
  }
  slots[at] = hash;
  return true;
}

/** Two multiplicative hashes of 32 and 20 bits; never 0, which marks an empty slot. */
function hashOf(text: string): number {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b) + (high >>> 13);
  }
  // Names that differ only in their last letter must not be adjacent.
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b);
  low = Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low ^= low >>> 16;
  return (high >>> 12) * 2 ** 32 + (low >>> 0) || 1;
}

/** Counts up to which a histogram is exact. */
const EXACT = 65_536;

/**
 * The frequency of each count. Exact up to 65,536, above that rounded up to the next of 256 steps between powers of two, so that a
 * busy counter needs no more memory than a quiet one.
 */
export class CountHistogram {
  readonly #occurrences = new Map<number, number>();
  #total = 0;

  add(count: number): void {
    const value = count <= EXACT ? count : roundUp(count);
    this.#occurrences.set(value, (this.#occurrences.get(value) ?? 0) + 1);
    this.#total += 1;
  }

  get total(): number {
    return this.#total;
  }

  /** The least count that is not below `share` (0 to 1) of all; 0 when there are none. */
  quantile(share: number): number {
    const wanted = Math.ceil(share * this.#total);
    let seen = 0;
    for (const [value, times] of this.#sorted()) {
      seen += times;
      if (seen >= wanted) return value;
    }
    return 0;
  }

  /** The least count that fewer than `share` of all exceed; with a share of 0: that none exceeds. */
  leastBound(share: number): number {
    const allowed = share * this.#total;
    let above = this.#total;
    for (const [value, times] of this.#sorted()) {
      if (above === 0 || above < allowed) return Math.max(value - 1, 0);
      above -= times;
      if (above === 0 || above < allowed) return value;
    }
    return 0;
  }

  #sorted(): readonly (readonly [number, number])[] {
    return [...this.#occurrences].sort(([a], [b]) => a - b);
  }
}

function roundUp(count: number): number {
  const step = 2 ** (Math.floor(Math.log2(count)) - 8);
  return Math.ceil(count / step) * step;
}
