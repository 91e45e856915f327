import type { Increment } from '../ports';

/** An increment that may still grow while its batch is being planned. */
type Growing = { -readonly [K in keyof Increment]: Increment[K] };

/**
 * Gathers the increments of a batch. Equal keys become one increment, as long as that changes no
 * answer: hits that are given back, and sums that would lose digits, stand alone, in order.
 */
export class Coalescer {
  readonly increments: Growing[] = [];
  readonly #apart: boolean;
  #byKey: Map<string, number> | undefined;

  /** `apart`: keep every increment on its own, because a request's counters are decided together. */
  constructor(apart: boolean) {
    this.#apart = apart;
  }

  /** The index of the increment that now holds these hits; they are the last ones added to it. */
  add(increment: Increment): number {
    const { increments } = this;
    const index = increments.length;
    if (this.#apart) {
      increments.push(increment);
      return index;
    }
    const { key, hits } = increment;
    if (typeof hits === 'bigint' || hits < 0) {
      this.#keys().delete(key);
      increments.push(increment);
      return index;
    }
    const earlier = index === 0 ? undefined : this.#keys().get(key);
    const growing = earlier === undefined ? undefined : increments[earlier];
    if (earlier !== undefined && growing !== undefined) {
      const sum = (growing.hits as number) + hits;
      if (sum <= Number.MAX_SAFE_INTEGER) {
        growing.hits = sum;
        return earlier;
      }
    }
    this.#byKey?.set(key, index);
    increments.push(increment);
    return index;
  }

  /** Most batches of a quiet service hold one increment: the index by key is made with the second. */
  #keys(): Map<string, number> {
    if (this.#byKey === undefined) {
      this.#byKey = new Map();
      const [first] = this.increments;
      if (first !== undefined) this.#byKey.set(first.key, 0);
    }
    return this.#byKey;
  }
}
