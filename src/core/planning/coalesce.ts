import type { Increment } from '../ports';
import type { KeyTemplate } from '../rules/key-template';

/** An increment that may still grow while its batch is being planned. */
type Growing = { -readonly [K in keyof Increment]: Increment[K] };

/** The result of `merge` when the hits need an increment of their own. */
export const NOT_MERGED = -1;

/**
 * Longer values stand alone: V8 hashes a text of more than 16,383 characters by its length, so that a map of such texts
 * compares each with all others.
 */
export const MAX_MERGED_LENGTH = 4_096;

/** The increments of one template, by values. Most templates meet one text of values in a batch: the map is made with the second. */
class CountersOfTemplate {
  #values: string | undefined;
  #index = NOT_MERGED;
  #others: Map<string, number> | undefined;

  /** NOT_MERGED: no increment takes more hits of these values. */
  get(values: string): number {
    if (values === this.#values) return this.#index;
    return this.#others?.get(values) ?? NOT_MERGED;
  }

  set(values: string, index: number): void {
    this.#values ??= values;
    if (values === this.#values) this.#index = index;
    else (this.#others ??= new Map()).set(values, index);
  }
}

/**
 * Gathers the increments of a batch. Equal counters become one increment, as long as that changes no
 * answer: hits that are given back, sums that would lose digits and very long values stand alone, in order.
 */
export class Coalescer {
  readonly increments: Growing[] = [];
  readonly #separate: boolean;
  /** The last template and its counters: most batches meet few templates. */
  #template: KeyTemplate | undefined;
  #counters = new CountersOfTemplate();
  #byTemplate: Map<KeyTemplate, CountersOfTemplate> | undefined;

  /** `separate`: keep every increment on its own, because a request's counters are decided together. */
  constructor(separate: boolean) {
    this.#separate = separate;
  }

  /**
   * Adds the hits to the increment of the same counter and returns its index; NOT_MERGED if the caller must append one
   * before the next call.
   */
  merge(template: KeyTemplate, values: string, hits: number | bigint): number {
    if (this.#separate || values.length > MAX_MERGED_LENGTH) return NOT_MERGED;
    const counters = this.#countersOf(template);
    if (typeof hits === 'bigint' || hits < 0) {
      counters.set(values, NOT_MERGED);
      return NOT_MERGED;
    }
    const index = counters.get(values);
    if (index !== NOT_MERGED && this.#grow(index, hits)) return index;
    counters.set(values, this.increments.length);
    return NOT_MERGED;
  }

  /** The same for an ask of an algorithm, which counts one ask after another: only equal ones in a row become one increment. */
  repeat(template: KeyTemplate, values: string, hits: number | bigint): number {
    if (this.#separate || values.length > MAX_MERGED_LENGTH) return NOT_MERGED;
    const counters = this.#countersOf(template);
    const index = counters.get(values);
    if (index !== NOT_MERGED && this.#growTimes(index, hits)) return index;
    counters.set(values, this.increments.length);
    return NOT_MERGED;
  }

  /** Its index. */
  add(increment: Increment): number {
    return this.increments.push(increment) - 1;
  }

  #grow(index: number, by: number): boolean {
    const increment = this.increments[index] as Growing;
    const sum = (increment.hits as number) + by;
    if (sum > Number.MAX_SAFE_INTEGER) return false;
    increment.hits = sum;
    return true;
  }

  #growTimes(index: number, hits: number | bigint): boolean {
    const increment = this.increments[index] as Growing;
    if (typeof hits === 'bigint' || hits <= 0 || increment.hits !== hits) return false;
    const times = (increment.times ?? 1) + 1;
    if (hits * times > Number.MAX_SAFE_INTEGER) return false;
    increment.times = times;
    return true;
  }

  #countersOf(template: KeyTemplate): CountersOfTemplate {
    if (template === this.#template) return this.#counters;
    if (this.#template !== undefined) this.#counters = this.#leave(this.#template, template);
    this.#template = template;
    return this.#counters;
  }

  /** The counters of the other template. */
  #leave(template: KeyTemplate, other: KeyTemplate): CountersOfTemplate {
    this.#byTemplate ??= new Map([[template, this.#counters]]);
    const known = this.#byTemplate.get(other);
    if (known !== undefined) return known;
    const counters = new CountersOfTemplate();
    this.#byTemplate.set(other, counters);
    return counters;
  }
}
