import type { ValueLimit } from '../../core/rules/rules';
import { copyOf } from '../../platform/copy-of';

/** The result of one read of fields: keeps only the first invalid text, since all of a large hash would need its memory again. */
export class ReadTally {
  found = '';
  invalid = 0;
  #present = 0;
  #gone = 0;

  /** `text` is null where the field is missing; `before`: the known limit of its value. */
  note(text: string | null, limit: ValueLimit | 'invalid' | undefined, before: unknown): void {
    if (text === null) {
      if (before !== undefined) this.#gone += 1;
      return;
    }
    this.#present += 1;
    if (limit !== 'invalid') return;
    if (this.invalid === 0) this.found = text;
    this.invalid += 1;
  }

  /** Number of fields that existed before, when none exists now; else 0. */
  get lost(): number {
    return this.#present === 0 ? this.#gone : 0;
  }

  get hasFields(): boolean {
    return this.#present > 0;
  }
}

interface Known {
  /** Undefined: it has no limit of its own, or was not read yet. */
  limit: ValueLimit | undefined;
  /** Used since it was last passed over for eviction. */
  wasAsked: boolean;
  /** The round of its last use. */
  round: number;
}

export interface KnownLimitsBounds {
  /** For all hashes together. */
  readonly maxValues: number;
  readonly maxBytes: number;
}

/** Memory per value besides its text: an object and a map slot. */
const VALUE_BYTES = 120;

/** Longer values have no limit of their own: V8 compares very long strings in maps one by one. */
const MAX_VALUE_LENGTH = 4_096;

/** Values that a search for one to evict passes over at most, because they were used recently. */
const MAX_PASSED = 32;

/**
 * Makes the caches of several hashes, bounded together. When there is no room, the largest cache evicts the value that was read
 * first among those not used since.
 */
export function createKnownLimits({ maxValues, maxBytes }: KnownLimitsBounds) {
  let size = 0;
  let bytes = 0;
  let largest: KnownLimits | undefined;

  const note = (values: number, ofBytes: number): void => {
    size += values;
    bytes += ofBytes;
  };
  const makeRoom = (grown: KnownLimits): void => {
    if (largest === undefined || grown.size > largest.size) largest = grown;
    while ((size > maxValues || bytes > maxBytes) && largest.evict());
  };
  return { open: (onUnread: () => void) => new KnownLimits(onUnread, note, makeRoom) };
}

/** The values of one hash. */
export class KnownLimits {
  readonly #known = new Map<string, Known>();
  /** Continues where it stopped: a new iteration would pass over the slots of all removed entries. */
  #oldest = this.#known.entries();
  #unread: string[] = [];
  #round = 0;
  readonly #onUnread: () => void;
  readonly #note: (values: number, bytes: number) => void;
  readonly #makeRoom: (grown: KnownLimits) => void;

  constructor(
    onUnread: () => void,
    note: (values: number, bytes: number) => void,
    makeRoom: (grown: KnownLimits) => void,
  ) {
    this.#onUnread = onUnread;
    this.#note = note;
    this.#makeRoom = makeRoom;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Undefined: unknown; it will be read from now on. */
  get(value: string): ValueLimit | undefined {
    const known = this.#known.get(value);
    if (known !== undefined) {
      known.wasAsked = true;
      known.round = this.#round;
      return known.limit;
    }
    if (value.length <= MAX_VALUE_LENGTH) this.#admit(copyOf(value));
    return undefined;
  }

  /** Returns the previous limit. */
  set(value: string, limit: ValueLimit | undefined): ValueLimit | undefined {
    const known = this.#known.get(value);
    const before = known?.limit;
    if (known !== undefined) known.limit = limit;
    return before;
  }

  /** Begins a round: returns the values to read, without those that no request has used for `mostIdle` rounds. */
  beginRound(maxIdle: number): readonly string[] {
    this.#round += 1;
    const values: string[] = [];
    for (const [value, { round }] of this.#known)
      if (this.#round - round <= maxIdle) values.push(value);
      else {
        this.#known.delete(value);
        this.#note(-1, -bytesOf(value));
      }
    return values;
  }

  /** The values that were not read yet; each is returned once. */
  takeUnread(): string[] {
    const unread = this.#unread.filter((value) => this.#known.has(value));
    this.#unread = [];
    return unread;
  }

  clear(): void {
    for (const value of this.#known.keys()) this.#note(-1, -bytesOf(value));
    this.#known.clear();
    this.#unread = [];
  }

  /** Returns false when nothing is left. */
  evict(): boolean {
    for (let passed = 0; ; passed += 1) {
      const oldest = this.#nextOldest();
      if (oldest === undefined) return false;
      const [value, known] = oldest;
      this.#known.delete(value);
      if (!known.wasAsked || passed === MAX_PASSED) {
        this.#note(-1, -bytesOf(value));
        return true;
      }
      known.wasAsked = false;
      this.#known.set(value, known);
    }
  }

  #admit(value: string): void {
    this.#known.set(value, { limit: undefined, wasAsked: false, round: this.#round });
    this.#note(1, bytesOf(value));
    this.#makeRoom(this);
    // Values that were evicted before they were read stay in the list until it is taken.
    if (this.#unread.length > 2 * this.#known.size) this.#unread = this.takeUnread();
    if (this.#unread.push(value) === 1) this.#onUnread();
  }

  #nextOldest(): [string, Known] | undefined {
    let next = this.#oldest.next();
    if (next.done === true) {
      this.#oldest = this.#known.entries();
      next = this.#oldest.next();
    }
    return next.done === true ? undefined : next.value;
  }
}

function bytesOf(value: string): number {
  return VALUE_BYTES + 2 * value.length;
}

/** The limit in a field; `invalid` when it is neither a whole number that the rule can count nor `unlimited`. */
export function parseLimit(text: string, maxLimit: number): ValueLimit | 'invalid' {
  if (text === 'unlimited') return 'unlimited';
  if (!/^\d{1,10}$/.test(text)) return 'invalid';
  const limit = Number(text);
  return limit <= maxLimit ? limit : 'invalid';
}
