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
