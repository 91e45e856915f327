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
