import type { Increment } from '../ports';
import type { KeyTemplate } from '../rules/key-template';
import type { Match } from '../rules/match';
import type { RuleLimit } from '../rules/rules';

/** An increment that may still grow while its batch is being planned. */
type Growing = { -readonly [K in keyof Increment]: Increment[K] };

/** What tells counters apart, and the limit that they are held against. */
export type Countable = Pick<Match, 'template' | 'values'> & {
  readonly limit: Pick<RuleLimit, 'requestsPerUnit' | 'gate' | 'reservation'>;
};

/** The increment that counts a descriptor. */
interface Chosen {
  readonly increment: number;
}

/** The result of `merge` when the hits need an increment of their own. */
export const NOT_MERGED = -1;

/**
 * Longer values stand alone: V8 hashes a text of more than 16,383 characters by its length, so that a map of such texts
 * compares each with all others.
 */
export const MAX_MERGED_LENGTH = 4_096;

/** The descriptors of a request with which one is compared; what comes after so many stands alone, or their square would count. */
const MAX_COMPARED = 64;

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
 * Gathers the increments of a batch. Equal counters become one increment, as long as that changes no answer: other limits, hits
 * that are given back, sums that would lose digits and very long values stand alone, in order. So do hits for a counter that
 * another template of the same request has met since: `a_b` with `c` and `a` with `b_c` are one key.
 */
export class Coalescer {
  readonly increments: Growing[] = [];
  #separate: boolean;
  /** Of a request that is charged together: its increments that take more hits of the same counter. */
  #joined: Map<KeyTemplate, CountersOfTemplate> | undefined;
  /** The last template and its counters: most batches meet few templates. */
  #template: KeyTemplate | undefined;
  #counters = new CountersOfTemplate();
  #byTemplate: Map<KeyTemplate, CountersOfTemplate> | undefined;
  readonly #chosen: readonly (Chosen | undefined)[];
  /** Where the descriptors of the last request begin in `#chosen`. */
  #requestStart = 0;

  /** `chosen`: what the caller notes of the increment that each descriptor got, in order. */
  constructor(chosen: readonly (Chosen | undefined)[]) {
    this.#separate = false;
    this.#chosen = chosen;
  }

  /**
   * What follows belongs to another request. `separate`: keep each of its increments on its own, because its counters are decided
   * together. `isJoining`: all of its hits for one counter are one ask, which is admitted or refused whole.
   */
  startRequest(separate: boolean, isJoining = false): void {
    this.#separate = separate;
    this.#requestStart = this.#chosen.length;
    this.#joined = isJoining ? new Map() : undefined;
  }

  /**
   * Adds the hits to the increment of the same counter and limit and returns its index; NOT_MERGED if the caller must append
   * one before the next call. Where one ask is counted after another, only equal ones in a row become one increment.
   */
  merge({ template, values, limit }: Countable, hits: number | bigint): number {
    if (this.#joined !== undefined)
      return this.#join(this.#joined, { template, values, limit }, hits);
    if (this.#separate || limit.gate.isAlone || values.length > MAX_MERGED_LENGTH)
      return NOT_MERGED;
    const counters = this.#countersOf(template);
    if (typeof hits === 'bigint' || hits < 0) {
      counters.set(values, NOT_MERGED);
      return NOT_MERGED;
    }
    const index = this.#openFor(limit, counters.get(values));
    if (index !== NOT_MERGED && this.#grow(index, hits)) return index;
    counters.set(values, this.increments.length);
    return NOT_MERGED;
  }

  #join(
    joined: Map<KeyTemplate, CountersOfTemplate>,
    countable: Countable,
    hits: number | bigint,
  ): number {
    const { template, values, limit } = countable;
    if (typeof hits !== 'number' || !isSummed(countable, hits)) return NOT_MERGED;
    const counters = joined.get(template) ?? new CountersOfTemplate();
    joined.set(template, counters);
    const index = counters.get(values);
    const increment = this.increments[index];
    const sum = Number(increment?.hits ?? 0) + hits;
    if (increment?.gate !== limit.gate || sum > Number.MAX_SAFE_INTEGER) {
      counters.set(values, this.increments.length);
      return NOT_MERGED;
    }
    increment.hits = sum;
    return index;
  }

  /** Its index. */
  add(increment: Increment): number {
    return this.increments.push(increment) - 1;
  }

  /** The same index where that increment may take hits of this limit now; else NOT_MERGED. */
  #openFor({ requestsPerUnit }: Countable['limit'], index: number): number {
    if (index === NOT_MERGED) return NOT_MERGED;
    const isOpen = this.increments[index]?.limit === requestsPerUnit && this.#keepsOrder(index);
    return isOpen ? index : NOT_MERGED;
  }

  /** Whether no increment of this request that comes later counts under the same key. */
  #keepsOrder(index: number): boolean {
    const { increments } = this;
    if (index === increments.length - 1) return true;
    const chosen = this.#chosen;
    if (chosen.length - this.#requestStart > MAX_COMPARED) return false;
    const { key } = increments[index] as Growing;
    for (let i = this.#requestStart; i < chosen.length; i++) {
      const other = chosen[i]?.increment ?? NOT_MERGED;
      if (other <= index) continue;
      const otherKey = (increments[other] as Growing).key;
      // Their lengths first: a key is put together only when it is compared.
      if (otherKey.length === key.length && otherKey === key) return false;
    }
    return true;
  }

  #grow(index: number, by: number): boolean {
    const increment = this.increments[index] as Growing;
    if (increment.gate.kind.looks) return repeat(increment, by);
    const sum = (increment.hits as number) + by;
    if (sum > Number.MAX_SAFE_INTEGER) return false;
    increment.hits = sum;
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

/** Reservations are asked by their ids; hits that are given back, and looks, stand alone. */
function isSummed({ values, limit }: Countable, hits: number): boolean {
  return hits > 0 && limit.reservation === undefined && values.length <= MAX_MERGED_LENGTH;
}

/** One more ask of the same hits. */
function repeat(increment: Growing, hits: number): boolean {
  if (hits === 0 || increment.hits !== hits) return false;
  const times = increment.times + 1;
  if (hits * times > Number.MAX_SAFE_INTEGER) return false;
  increment.times = times;
  return true;
}
