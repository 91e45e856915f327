/** Where a record is; it changes when the record moves. */
export type RecordId = number;

/** No record has it. */
export const NONE: RecordId = 0;

/** The last bits of an id are the word of a page at which the record begins; the first ones are the number of the page. */
export const OFFSET_BITS = 13;
const MAX_PAGE_WORDS = 1 << OFFSET_BITS;
export const OFFSET_MASK = MAX_PAGE_WORDS - 1;
const MIN_PAGE_WORDS = 64;
export const WORD_BYTES = 8;

/** A page is a sixteenth of what there is: one is being filled, and one is being cleaned up. */
const PAGE_SHARE = 16;
/** A page is cleaned up when an eighth of it is not in use. */
const UNUSED_SHARE = 8;
/** What all pages take at most for each byte of a record that was not removed, but for 1 kB. */
export const SPARE = 9 / 7;
/** Below this nothing is cleaned up: an eighth of each page may be unused, and the page that is being filled. */
const UNTOUCHED = (8 / 7) * (17 / 16);
/** Pages that one removal looks at for one to clean up. */
const LOOKS = 8;

/** The first half of a record's first word: how many words it has, and whether it was removed; the bits between are its owner's. */
export const WORDS_MASK = 0xff;
const REMOVED = 0x80000000;

/** A piece of memory outside of V8's heap, by words of 64 and 32 bits and by bytes. */
export interface Page {
  readonly numbers: Float64Array;
  readonly words: Uint32Array;
  readonly bytes: Buffer;
  /** Words that records take, and those of records that were not removed. */
  used: number;
  live: number;
}

/**
 * Records of whole words in pages that the garbage collector does not visit. Removed ones are cleaned up a page at a time: what is left
 * of the page moves, and `onMoved` says so.
 */
export class RecordPages {
  /** By the number of the page. */
  readonly pages: (Page | undefined)[] = [];
  readonly #onMoved: (from: RecordId, to: RecordId) => void;
  readonly #free: number[] = [];
  /** The page that is being filled. */
  #last = -1;
  #words = 0;
  #liveWords = 0;
  /** The next page that may be cleaned up. */
  #next = 0;

  constructor(onMoved: (from: RecordId, to: RecordId) => void) {
    this.#onMoved = onMoved;
  }

  get liveBytes(): number {
    return this.#liveWords * WORD_BYTES;
  }

  get allocatedBytes(): number {
    return this.#words * WORD_BYTES;
  }

  /** Adds a record of 1 to 255 words, all of them 0 but the first. */
  add(words: number): RecordId {
    const number = this.#pageFor(words);
    const page = this.pages[number] as Page;
    const at = page.used;
    page.used += words;
    page.live += words;
    this.#liveWords += words;
    page.words[at * 2] = words;
    return number * MAX_PAGE_WORDS + at;
  }

  /** Others may move. */
  remove(id: RecordId): void {
    this.#forget(id);
    if (this.#words > this.#liveWords * UNTOUCHED + MIN_PAGE_WORDS) this.#cleanUp();
  }

  /** All records of the pages that are there now; records may be added, removed and moved meanwhile: those that move may be left out. */
  *all(): Generator<RecordId, void> {
    const known = this.pages.map((page) => page && { page, used: page.used });
    for (const [number, one] of known.entries())
      if (one !== undefined && this.pages[number] === one.page)
        yield* this.#inPage(number, one.page, one.used);
  }

  *#inPage(number: number, page: Page, used: number): Generator<RecordId, void> {
    for (let at = firstOffset(number); at < used;) {
      const head = page.words[at * 2] as number;
      if ((head & REMOVED) === 0) yield number * MAX_PAGE_WORDS + at;
      at += head & WORDS_MASK;
    }
  }

  #forget(id: RecordId): void {
    const number = id >>> OFFSET_BITS;
    const page = this.pages[number] as Page;
    const at = (id & OFFSET_MASK) * 2;
    const head = page.words[at] as number;
    const words = head & WORDS_MASK;
    page.words[at] = head | REMOVED;
    page.live -= words;
    this.#liveWords -= words;
    if (page.live === 0 && number !== this.#last) this.#drop(number, page);
  }

  #drop(number: number, { numbers }: Page): void {
    this.pages[number] = undefined;
    this.#free.push(number);
    this.#words -= numbers.length;
  }

  #pageFor(words: number): number {
    const last = this.pages[this.#last];
    if (last !== undefined && last.used + words <= last.numbers.length) return this.#last;
    const before = this.#last;
    const size = Math.max(
      Math.min(Math.floor(this.#words / PAGE_SHARE), MAX_PAGE_WORDS),
      MIN_PAGE_WORDS,
      words + 1,
    );
    const number = this.#free.pop() ?? this.pages.length;
    const memory = new ArrayBuffer(size * WORD_BYTES);
    this.pages[number] = {
      numbers: new Float64Array(memory),
      words: new Uint32Array(memory),
      bytes: Buffer.from(memory),
      used: firstOffset(number),
      live: 0,
    };
    this.#words += size;
    this.#last = number;
    if (last?.live === 0) this.#drop(before, last);
    return number;
  }

  /** Moves what is left in one of the next pages. */
  #cleanUp(): void {
    for (let looks = LOOKS; looks > 0; looks -= 1) {
      this.#next = (this.#next + 1) % this.pages.length;
      const page = this.pages[this.#next];
      if (page === undefined || !this.#isWorthEmptying(this.#next, page)) continue;
      if (this.#next === this.#last) this.#last = -1;
      this.#empty(this.#next, page);
      return;
    }
  }

  #isWorthEmptying(number: number, { live, numbers: { length } }: Page): boolean {
    if (live > length - length / UNUSED_SHARE) return false;
    // The page that is being filled has become too large for what there is.
    return (
      number !== this.#last || length > Math.max((this.#words * 2) / PAGE_SHARE, MIN_PAGE_WORDS)
    );
  }

  #empty(number: number, page: Page): void {
    for (const from of [...this.#inPage(number, page, page.used)]) {
      const at = from & OFFSET_MASK;
      const words = (page.words[at * 2] as number) & WORDS_MASK;
      const to = this.add(words);
      const target = this.pages[to >>> OFFSET_BITS] as Page;
      target.words.set(page.words.subarray(at * 2, (at + words) * 2), (to & OFFSET_MASK) * 2);
      this.#onMoved(from, to);
      this.#forget(from);
    }
    if (this.pages[number] === page) this.#drop(number, page);
  }
}

/** The first word of the first page belongs to no record: its id is NONE. */
function firstOffset(page: number): number {
  return page === 0 ? 1 : 0;
}
