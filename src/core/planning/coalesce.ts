import type { Increment } from '../ports';
import type { KeyTemplate } from '../rules/key-template';
import type { Match } from '../rules/match';
import type { RuleLimit } from '../rules/rules';

/** An increment that may still grow while its batch is being planned. */
type Growing = { -readonly [K in keyof Increment]: Increment[K] };

/** The identity of a counter, and its limit. */
export type Countable = Pick<Match, 'template' | 'values'> & {
  readonly limit: Pick<RuleLimit, 'requestsPerUnit' | 'limiter' | 'reservation'>;
};

/** The increment that counts a descriptor. */
interface Chosen {
  readonly increment: number;
}

/** The result of `merge` when the hits need an increment of their own. */
export const NOT_MERGED = -1;

/**
 * Longer values are not merged: V8 hashes a string of more than 16,383 characters by its length, so that a map of such strings
 * compares each with all others.
 */
export const MAX_MERGED_LENGTH = 4_096;

/** Descriptors of a request with which one is compared: later ones are not compared, to avoid quadratic time. */
const MAX_COMPARED = 64;

/** The increments of one template, by values. Most templates have one list of values per batch: the map is made for the second. */
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
 * Gathers the increments of a batch. Increments of equal counters are merged where that changes no answer: other limits, refunds,
 * sums that would lose digits and very long values stay separate, in order. So do hits for a counter that another template of the
 * same request has used since: `a_b` with `c` and `a` with `b_c` are one key.
 */
export class Coalescer {
  readonly increments: Growing[] = [];
  #separate: boolean;
  /** For a request that is charged together: its increments that may still be merged with hits of the same counter. */
  #joined: Map<KeyTemplate, CountersOfTemplate> | undefined;
  /** Cache of the last template and its counters: most batches have few templates. */
  #template: KeyTemplate | undefined;
  #counters = new CountersOfTemplate();
  #byTemplate: Map<KeyTemplate, CountersOfTemplate> | undefined;
  readonly #chosen: readonly (Chosen | undefined)[];
  /** Index in `#chosen` of the last request's first descriptor. */
  #requestStart = 0;

  /** `chosen`: the caller's list of the increment of each descriptor, in order. */
  constructor(chosen: readonly (Chosen | undefined)[]) {
    this.#separate = false;
    this.#chosen = chosen;
  }

  /**
   * Starts another request. `separate`: its increments are not merged with those of others, because its counters are decided
   * together. `isJoining`: all of its hits for one counter are one charge, which is admitted or refused whole.
   */
  startRequest(separate: boolean, isJoining = false): void {
    this.#separate = separate;
    this.#requestStart = this.#chosen.length;
    this.#joined = isJoining ? new Map() : undefined;
  }

  /**
   * Merges the hits into an increment of the same counter and limit and returns its index; NOT_MERGED if the caller must append one
   * before the next call. Where charges are counted one by one, only equal ones in a row are merged.
   */
  merge({ template, values, limit }: Countable, hits: number | bigint): number {
    if (this.#joined !== undefined)
      return this.#join(this.#joined, { template, values, limit }, hits);
    if (this.#separate || limit.limiter.isNeverMerged || values.length > MAX_MERGED_LENGTH)
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
    if (increment?.limiter !== limit.limiter || sum > Number.MAX_SAFE_INTEGER) {
      counters.set(values, this.increments.length);
      return NOT_MERGED;
    }
    increment.hits = sum;
    return index;
  }

  /** Adds an increment that may be merged later. Returns its index. */
  add(increment: Increment): number {
    return this.increments.push(increment) - 1;
  }

  /** The index, where hits of this limit may be merged into that increment now; else NOT_MERGED. */
  #openFor({ requestsPerUnit }: Countable['limit'], index: number): number {
    if (index === NOT_MERGED) return NOT_MERGED;
    const isOpen = this.increments[index]?.limit === requestsPerUnit && this.#keepsOrder(index);
    return isOpen ? index : NOT_MERGED;
  }

  /** Whether no later increment of this request uses the same key. */
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
      // Lengths first: a key is built only when it is compared.
      if (otherKey.length === key.length && otherKey === key) return false;
    }
    return true;
  }

  #grow(index: number, by: number): boolean {
    const increment = this.increments[index] as Growing;
    if (increment.limiter.kind.readsFirst) return repeat(increment, by);
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

/** Reservations are distinguished by their ids; refunds and reads are not merged. */
function isSummed({ values, limit }: Countable, hits: number): boolean {
  return hits > 0 && limit.reservation === undefined && values.length <= MAX_MERGED_LENGTH;
}

/** One more charge of the same hits. */
function repeat(increment: Growing, hits: number): boolean {
  if (hits === 0 || increment.hits !== hits) return false;
  const times = increment.times + 1;
  if (hits * times > Number.MAX_SAFE_INTEGER) return false;
  increment.times = times;
  return true;
}
