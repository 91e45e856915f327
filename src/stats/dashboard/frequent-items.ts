/**
 * The heaviest items of an endless stream in a fixed number of slots (Misra and Gries 1982, with weights and purges as in Anderson
 * et al. 2017). Costs one map lookup per addition; where a new item finds no slot, the median of all weights is subtracted from
 * each, which removes about half of them.
 *
 * A reported weight is never too high, and too low by at most `error`, which is itself at most 2/slots of all weight that was
 * added: a heavier item is always reported.
 */
export class FrequentItems<T extends { readonly key: string }> {
  readonly #places: number;
  readonly #byKey = new Map<string, Weighed<T>>();
  readonly #weights: Float64Array;
  #error = 0;

  constructor(places: number) {
    this.#places = places;
    this.#weights = new Float64Array(places);
  }

  /** By how much a weight may be too low. */
  get error(): number {
    return this.#error;
  }

  /** Adds a weight above 0 to an item; `create` makes a new item. Only the item's own `key` is kept, an equal string. */
  add(key: string, weight: number, create: () => T): T {
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      known.weight += weight;
      return known.item;
    }
    if (this.#byKey.size >= this.#places) this.#purge();
    const item = create();
    this.#byKey.set(item.key, { item, weight });
    return item;
  }

  /** The item of a key, if it has a slot. */
  peek(key: string): T | undefined {
    return this.#byKey.get(key)?.item;
  }

  /** Scales all weights, and with them the error, by a share (0 to 1). */
  decay(share: number): void {
    this.#error *= share;
    for (const weighed of this.#byKey.values()) weighed.weight *= share;
  }

  clear(): void {
    this.#byKey.clear();
    this.#error = 0;
  }

  [Symbol.iterator](): Iterator<Weighed<T>> {
    return this.#byKey.values();
  }

  #purge(): void {
    let place = 0;
    for (const { weight } of this.#byKey.values()) this.#weights[place++] = weight;
    const median = this.#weights.sort()[this.#places >> 1] as number;
    this.#error += median;
    for (const [key, weighed] of this.#byKey) {
      weighed.weight -= median;
      if (weighed.weight <= 0) this.#byKey.delete(key);
    }
  }
}

export interface Weighed<T> {
  readonly item: T;
  weight: number;
}
