/** A hash and a number each: a slot. */
const SLOT_WORDS = 2;
const SLOT_BYTES = 8;
/** Slots of a new table, a power of two like all others. */
const MIN_SLOTS = 8;
/** A table that grows stops the process while it files all keys again: beyond this number of keys there are several tables. */
const MAX_ALONE = 4_096;
const TABLES = 64;
/** By the first bits of a hash; its last ones say where in the table. */
const TABLE_SHIFT = 26;

interface Table {
  slots: Uint32Array;
  size: number;
}

/** Whether what a number stands for has the key that is looked for. */
type IsMeant = (number: number) => boolean;

/**
 * Numbers from 1 on by the hashes of keys that it does not hold: an open-addressed hash table with linear probing, in which removing moves what
 * follows (Knuth, The Art of Computer Programming 3, 6.4, algorithm R).
 */
export class KeyIndex {
  /** The memory of all tables: each has slots for at most 16 thirds of its keys, but for the smallest. */
  bytes = 0;
  readonly #isMeant: IsMeant;
  #size = 0;
  #tables: readonly Table[];

  constructor(isMeant: IsMeant) {
    this.#isMeant = isMeant;
    this.#tables = [this.#create(MIN_SLOTS)];
  }

  /** 0: there is none. */
  find(hash: number): number {
    const { slots } = this.#tableOf(hash);
    const mask = slots.length / SLOT_WORDS - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const number = slots[at * SLOT_WORDS + 1] as number;
      if (number === 0) return 0;
      if (slots[at * SLOT_WORDS] === hash && this.#isMeant(number)) return number;
    }
  }

  /** There must be no number for this key. */
  add(hash: number, number: number): void {
    if (this.#size === MAX_ALONE && this.#tables.length === 1) this.#divide();
    this.#file(hash, number);
    this.#size += 1;
  }

  /** There must be this number for the key. */
  remove(hash: number, number: number): void {
    const table = this.#tableOf(hash);
    takeOut(table.slots, slotOf(table.slots, hash, number));
    table.size -= 1;
    this.#size -= 1;
    const slots = slotsOf(table);
    if (slots > MIN_SLOTS && table.size * 16 < slots * 3) this.#resize(table, slots / 2);
  }

  /** The key has another number from now on. */
  replace(hash: number, from: number, to: number): void {
    const { slots } = this.#tableOf(hash);
    slots[slotOf(slots, hash, from) * SLOT_WORDS + 1] = to;
  }

  #tableOf(hash: number): Table {
    const tables = this.#tables;
    return (tables.length === 1 ? tables[0] : tables[hash >>> TABLE_SHIFT]) as Table;
  }

  #create(slots: number): Table {
    this.bytes += slots * SLOT_BYTES;
    return { slots: new Uint32Array(slots * SLOT_WORDS), size: 0 };
  }

  #divide(): void {
    const [whole] = this.#tables as [Table];
    this.#tables = Array.from({ length: TABLES }, () => this.#create((MAX_ALONE / TABLES) * 2));
    this.bytes -= slotsOf(whole) * SLOT_BYTES;
    forEachFilled(whole.slots, (hash, number) => {
      this.#file(hash, number);
    });
  }

  #file(hash: number, number: number): void {
    const table = this.#tableOf(hash);
    if ((table.size + 1) * 4 > slotsOf(table) * 3) this.#resize(table, slotsOf(table) * 2);
    put(table.slots, hash, number);
    table.size += 1;
  }

  #resize(table: Table, slots: number): void {
    const { slots: before } = table;
    this.bytes += (slots - slotsOf(table)) * SLOT_BYTES;
    table.slots = new Uint32Array(slots * SLOT_WORDS);
    forEachFilled(before, (hash, number) => {
      put(table.slots, hash, number);
    });
  }
}

function slotsOf({ slots }: Table): number {
  return slots.length / SLOT_WORDS;
}

/** A table that grows stops the process: no object is made for each slot. */
function forEachFilled(slots: Uint32Array, act: (hash: number, number: number) => void): void {
  for (let at = 0; at < slots.length; at += SLOT_WORDS) {
    const number = slots[at + 1] as number;
    if (number !== 0) act(slots[at] as number, number);
  }
}

function put(slots: Uint32Array, hash: number, number: number): void {
  const mask = slots.length / SLOT_WORDS - 1;
  let at = hash & mask;
  while (slots[at * SLOT_WORDS + 1] !== 0) at = (at + 1) & mask;
  slots[at * SLOT_WORDS] = hash;
  slots[at * SLOT_WORDS + 1] = number;
}

/** The slot of a number that is there. */
function slotOf(slots: Uint32Array, hash: number, number: number): number {
  const mask = slots.length / SLOT_WORDS - 1;
  let at = hash & mask;
  while (slots[at * SLOT_WORDS + 1] !== number) at = (at + 1) & mask;
  return at;
}

/** Empties a slot: what follows without a gap moves to where it would have been put without it. */
function takeOut(slots: Uint32Array, slot: number): void {
  const mask = slots.length / SLOT_WORDS - 1;
  let hole = slot;
  for (let at = (slot + 1) & mask; slots[at * SLOT_WORDS + 1] !== 0; at = (at + 1) & mask) {
    const home = (slots[at * SLOT_WORDS] as number) & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots[hole * SLOT_WORDS] = slots[at * SLOT_WORDS] as number;
    slots[hole * SLOT_WORDS + 1] = slots[at * SLOT_WORDS + 1] as number;
    hole = at;
  }
  slots[hole * SLOT_WORDS] = 0;
  slots[hole * SLOT_WORDS + 1] = 0;
}
