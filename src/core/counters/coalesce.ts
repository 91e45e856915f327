import type { Increment } from '../ports';
import type { CounterPlace } from '../rules/counter-place';

/** An increment that may still grow while its batch is being planned. */
type Growing = { -readonly [K in keyof Increment]: Increment[K] };

/** The result of `join` when the hits need an increment of their own. */
export const NOT_JOINED = -1;

/**
 * Longer values stand alone: V8 hashes a text of more than 16,383 characters by its length, so that a map of such texts
 * compares each with all others.
 */
export const MAX_JOINED_LENGTH = 4_096;

/** The increments of one place, by values. Most places meet one text of values in a batch: the map is made with the second. */
class CountersOfPlace {
  #values: string | undefined;
  #index = NOT_JOINED;
  #others: Map<string, number> | undefined;

  /** NOT_JOINED: no increment takes more hits of these values. */
  get(values: string): number {
    if (values === this.#values) return this.#index;
    return this.#others?.get(values) ?? NOT_JOINED;
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
  readonly #apart: boolean;
  /** The last place and its counters: most batches meet few places. */
  #place: CounterPlace | undefined;
  #counters = new CountersOfPlace();
  #byPlace: Map<CounterPlace, CountersOfPlace> | undefined;

  /** `apart`: keep every increment on its own, because a request's counters are decided together. */
  constructor(apart: boolean) {
    this.#apart = apart;
  }

  /**
   * Adds the hits to the increment of the same counter and returns its index; NOT_JOINED if the caller must append one
   * before the next call.
   */
  join(place: CounterPlace, values: string, hits: number | bigint): number {
    if (this.#apart || values.length > MAX_JOINED_LENGTH) return NOT_JOINED;
    const counters = this.#countersOf(place);
    if (typeof hits === 'bigint' || hits < 0) {
      counters.set(values, NOT_JOINED);
      return NOT_JOINED;
    }
    const index = counters.get(values);
    if (index !== NOT_JOINED && this.#grow(index, hits)) return index;
    counters.set(values, this.increments.length);
    return NOT_JOINED;
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

  #countersOf(place: CounterPlace): CountersOfPlace {
    if (place === this.#place) return this.#counters;
    if (this.#place !== undefined) this.#counters = this.#leave(this.#place, place);
    this.#place = place;
    return this.#counters;
  }

  /** The counters of the other place. */
  #leave(place: CounterPlace, other: CounterPlace): CountersOfPlace {
    this.#byPlace ??= new Map([[place, this.#counters]]);
    const known = this.#byPlace.get(other);
    if (known !== undefined) return known;
    const counters = new CountersOfPlace();
    this.#byPlace.set(other, counters);
    return counters;
  }
}
