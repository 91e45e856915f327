import { isWide, type KeyReader } from './key-reader';
import { KeyIndex } from './key-index';
import {
  NONE,
  OFFSET_BITS,
  OFFSET_MASK,
  RecordPages,
  SPARE,
  WORD_BYTES,
  type Page,
  type RecordId,
} from './record-pages';

/** A counter of a table. When a counter moves it gets another one. */
export type CounterId = RecordId;

/** Halves of the first two words of a record. The first half of the first is that of the pages, with more bits. */
const HEAD = 0;
const NOTE = 1;
const PREVIOUS = 2;
const NEXT = 3;
const HEAD_WORDS = 2;

/** In the head: the characters of the key, whether each has two bytes, and the list that the counter is in. */
const LENGTH_SHIFT = 8;
const LENGTH_MASK = 0x1ff;
const WIDE = 1 << 17;
const LIST_SHIFT = 18;
const LIST_MASK = 7;

const KEY_WORD_BYTES = 4;

/** What the index may take for a counter that is added. */
const INDEX_BYTES = 24;

/** Counters by their keys: a few numbers each, a note (a number of 32 bits), and their places in lists. */
export class CounterTable {
  size = 0;
  readonly #numbers: number;
  readonly #pages: RecordPages;
  readonly #index: KeyIndex;
  readonly #key: KeyReader;

  /** `numbers`: of each counter. `onMoved`: a counter has another id from now on; its neighbours know it already. */
  constructor(
    numbers: number,
    key: KeyReader,
    onMoved: (from: CounterId, to: CounterId) => void = () => undefined,
  ) {
    this.#numbers = numbers;
    this.#key = key;
    this.#index = new KeyIndex((id) => this.#isMeant(id));
    this.#pages = new RecordPages((from, to) => {
      this.#index.replace(key.read(this.keyOf(to)), from, to);
      const [previous, next] = [this.previous(to), this.next(to)];
      if (previous !== NONE) this.setNext(previous, to);
      if (next !== NONE) this.setPrevious(next, to);
      onMoved(from, to);
    });
  }

  /** An upper bound of the memory of its counters, but for 1 kB. */
  get bytes(): number {
    return this.#pages.liveBytes * SPARE + this.#index.bytes;
  }

  /** The memory that it has. */
  get allocatedBytes(): number {
    return this.#pages.allocatedBytes + this.#index.bytes;
  }

  /** What a counter with this key adds to `bytes`, or more. */
  bytesOf(key: string): number {
    return this.#wordsOf(key.length, isWide(key)) * WORD_BYTES * SPARE + INDEX_BYTES;
  }

  /** NONE: it is missing. */
  find(key: string): CounterId {
    return this.#index.find(this.#key.read(key));
  }

  /** Adds a counter; there must be none with this key. */
  add(key: string): CounterId {
    const read = this.#key;
    const hash = read.read(key);
    const id = this.#pages.add(this.#wordsOf(read.length, read.isWide));
    const { words } = this.#pageOf(id);
    const at = id & OFFSET_MASK;
    words[at * 2 + HEAD] =
      (words[at * 2 + HEAD] as number) | (read.length << LENGTH_SHIFT) | (read.isWide ? WIDE : 0);
    const from = this.#keyAt(at);
    for (let word = 0; word < read.count; word += 1)
      words[from + word] = read.words[word] as number;
    this.#index.add(hash, id);
    this.size += 1;
    return id;
  }

  /** Removes a counter, which must be in no list; others may move. */
  remove(id: CounterId): void {
    this.#index.remove(this.#key.read(this.keyOf(id)), id);
    this.size -= 1;
    this.#pages.remove(id);
  }

  /** All counters; some that move meanwhile may be left out. */
  all(): Generator<CounterId, void> {
    return this.#pages.all();
  }

  keyOf(id: CounterId): string {
    const { bytes } = this.#pageOf(id);
    const head = this.#half(id, HEAD);
    const from = this.#keyAt(id & OFFSET_MASK) * KEY_WORD_BYTES;
    const length = (head >>> LENGTH_SHIFT) & LENGTH_MASK;
    return (head & WIDE) === 0
      ? bytes.toString('latin1', from, from + length)
      : bytes.toString('utf16le', from, from + 2 * length);
  }

  number(id: CounterId, at: number): number {
    return this.#pageOf(id).numbers[(id & OFFSET_MASK) + HEAD_WORDS + at] as number;
  }

  setNumber(id: CounterId, at: number, value: number): void {
    this.#pageOf(id).numbers[(id & OFFSET_MASK) + HEAD_WORDS + at] = value;
  }

  note(id: CounterId): number {
    return this.#half(id, NOTE);
  }

  setNote(id: CounterId, value: number): void {
    this.#setHalf(id, NOTE, value);
  }

  previous(id: CounterId): CounterId {
    return this.#half(id, PREVIOUS);
  }

  setPrevious(id: CounterId, previous: CounterId): void {
    this.#setHalf(id, PREVIOUS, previous);
  }

  next(id: CounterId): CounterId {
    return this.#half(id, NEXT);
  }

  setNext(id: CounterId, next: CounterId): void {
    this.#setHalf(id, NEXT, next);
  }

  /** Which list it is in: 0 to 7. */
  list(id: CounterId): number {
    return (this.#half(id, HEAD) >>> LIST_SHIFT) & LIST_MASK;
  }

  setList(id: CounterId, list: number): void {
    const head = this.#half(id, HEAD);
    this.#setHalf(id, HEAD, (head & ~(LIST_MASK << LIST_SHIFT)) | (list << LIST_SHIFT));
  }

  #pageOf(id: CounterId): Page {
    return this.#pages.pages[id >>> OFFSET_BITS] as Page;
  }

  #half(id: CounterId, half: number): number {
    return this.#pageOf(id).words[(id & OFFSET_MASK) * 2 + half] as number;
  }

  #setHalf(id: CounterId, half: number, value: number): void {
    this.#pageOf(id).words[(id & OFFSET_MASK) * 2 + half] = value;
  }

  #wordsOf(length: number, wide: boolean): number {
    return HEAD_WORDS + this.#numbers + Math.ceil((wide ? 2 * length : length) / WORD_BYTES);
  }

  /** The first word of 32 bits of a key. */
  #keyAt(offset: number): number {
    return (offset + HEAD_WORDS + this.#numbers) * 2;
  }

  /** Whether it has the key that was read last. */
  #isMeant(id: CounterId): boolean {
    const { words } = this.#pageOf(id);
    const at = id & OFFSET_MASK;
    const { words: own, count, length, isWide: isKeyWide } = this.#key;
    const head = words[at * 2 + HEAD] as number;
    if (((head >>> LENGTH_SHIFT) & LENGTH_MASK) !== length) return false;
    if (((head & WIDE) !== 0) !== isKeyWide) return false;
    const from = this.#keyAt(at);
    for (let word = 0; word < count; word += 1) if (words[from + word] !== own[word]) return false;
    return true;
  }
}
