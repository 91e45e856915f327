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
