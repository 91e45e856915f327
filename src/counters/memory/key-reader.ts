import { randomBytes } from 'node:crypto';
import { endianness } from 'node:os';

/** Characters beyond this one make a key wide: it is hashed and kept by two bytes for each. */
const LAST_NARROW = 0xff;
/** Characters of the longest key. */
const MOST = 0x1ff;
const WORD_CHARACTERS = 4;

/** Where the bytes of a word stand in it, so that words are in memory what their characters are. */
const [FIRST, SECOND, THIRD, FOURTH] =
  endianness() === 'LE' ? ([0, 8, 16, 24] as const) : ([24, 16, 8, 0] as const);

/** Whether a key has characters beyond Latin-1. */
export function isWide(key: string): boolean {
  for (let at = 0; at < key.length; at += 1) if (key.charCodeAt(at) > LAST_NARROW) return true;
  return false;
}

/** Reads keys: the last one that was read as words of 32 bits, as they are kept, and its hash. */
export class KeyReader {
  /** The last one is filled up with zeros. */
  readonly words = new Uint32Array(Math.ceil((MOST * 2) / WORD_CHARACTERS));
  /** How many of these the key has. */
  count = 0;
  /** Characters. */
  length = 0;
  isWide = false;
  readonly #hash: (key: KeyReader) => number;
  #key: string | undefined;
  #last = 0;

  /** `hash`: that of the words, 32 bits without a sign. */
  constructor(hash: (key: KeyReader) => number) {
    this.#hash = hash;
  }

  /** The hash of a key of at most 511 characters. */
  read(key: string): number {
    if (key === this.#key) return this.#last;
    this.#key = key;
    this.length = key.length;
    this.isWide = !this.#readNarrow(key);
    if (this.isWide) this.#readWide(key);
    this.#last = this.#hash(this);
    return this.#last;
  }

  /** False: it is wide. */
  #readNarrow(key: string): boolean {
    const { words } = this;
    const whole = key.length >> 2;
    let all = 0;
    for (let at = 0; at < whole; at += 1) {
      const from = at << 2;
      const a = key.charCodeAt(from);
      const b = key.charCodeAt(from + 1);
      const c = key.charCodeAt(from + 2);
      const d = key.charCodeAt(from + 3);
      all |= a | b | c | d;
      words[at] = (a << FIRST) | (b << SECOND) | (c << THIRD) | (d << FOURTH);
    }
    this.count = whole;
    const left = key.length & 3;
    if (left === 0) return all <= LAST_NARROW;
    const from = whole << 2;
    const a = key.charCodeAt(from);
    const b = left > 1 ? key.charCodeAt(from + 1) : 0;
    const c = left > 2 ? key.charCodeAt(from + 2) : 0;
    words[whole] = (a << FIRST) | (b << SECOND) | (c << THIRD);
    this.count = whole + 1;
    return (all | a | b | c) <= LAST_NARROW;
  }

  #readWide(key: string): void {
    const { words } = this;
    const [low, high] = FIRST === 0 ? [0, 16] : [16, 0];
    this.count = (key.length + 1) >> 1;
    for (let at = 0; at < this.count; at += 1) {
      const second = 2 * at + 1 < key.length ? key.charCodeAt(2 * at + 1) : 0;
      words[at] = (key.charCodeAt(2 * at) << low) | (second << high);
    }
  }
}

const FINAL_ROUNDS = 3;

/**
 * A reader whose hash is HalfSipHash-1-3 (Aumasson and Bernstein) of the words and the length. It has a secret of this process: callers
 * choose keys, and must not be able to choose such as collide.
 */
export function createKeyReader(secret = randomBytes(8)): KeyReader {
  const first = secret.readInt32LE(0);
  const narrow = secret.readInt32LE(4);
  // Words of wide keys mean something else.
  const wide = ~narrow;

  return new KeyReader(({ words, count, length, isWide: isKeyWide }) => {
    const second = isKeyWide ? wide : narrow;
    let v0 = first;
    let v1 = second;
    let v2 = first ^ 0x6c796765;
    let v3 = second ^ 0x74656462;
    for (let step = 0; step <= count + FINAL_ROUNDS; step += 1) {
      let word = 0;
      if (step < count) word = words[step] as number;
      else if (step === count) word = length;
      else if (step === count + 1) v2 ^= 0xff;
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    return (v1 ^ v3) >>> 0;
  });
}
