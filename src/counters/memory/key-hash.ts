import { randomBytes } from 'node:crypto';

/** Hashes a key to 32 bits, unsigned. */
export type KeyHash = (key: string) => number;

/** Characters beyond this one make a key wide: it is hashed and kept by two bytes for each. */
const LAST_NARROW = 0xff;

/** Whether a key has characters beyond Latin-1. */
export function isWide(key: string): boolean {
  for (let at = 0; at < key.length; at += 1) if (key.charCodeAt(at) > LAST_NARROW) return true;
  return false;
}

/** As many characters of a key as a word of 32 bits holds. */
const NARROW_PER_WORD = 4;
const WIDE_PER_WORD = 2;
const FINAL_ROUNDS = 3;

/**
 * HalfSipHash-1-3 (Aumasson and Bernstein) of a key's characters, with a secret of this process: callers choose keys, and must not be
 * able to choose such as collide.
 */
export function createKeyHash(secret = randomBytes(8)): KeyHash {
  const [first, second] = [secret.readInt32LE(0), secret.readInt32LE(4)];

  const hashBy = (key: string, perWord: number, second: number): number => {
    let v0 = first;
    let v1 = second;
    let v2 = first ^ 0x6c796765;
    let v3 = second ^ 0x74656462;
    const whole = Math.floor(key.length / perWord);
    for (let step = 0; step <= whole + FINAL_ROUNDS; step += 1) {
      const word = step <= whole ? wordAt(key, step * perWord, perWord) : 0;
      if (step === whole + 1) v2 ^= 0xff;
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
  };
  // Words of wide keys mean something else, and so does their secret.
  return (key) =>
    isWide(key) ? hashBy(key, WIDE_PER_WORD, ~second) : hashBy(key, NARROW_PER_WORD, second);
}

/** A word of characters; the last one has what is left of them, and the length. */
function wordAt(key: string, at: number, perWord: number): number {
  if (at + perWord > key.length) return restAt(key, at, perWord);
  if (perWord === WIDE_PER_WORD) return key.charCodeAt(at) | (key.charCodeAt(at + 1) << 16);
  return (
    key.charCodeAt(at) |
    (key.charCodeAt(at + 1) << 8) |
    (key.charCodeAt(at + 2) << 16) |
    (key.charCodeAt(at + 3) << 24)
  );
}

function restAt(key: string, at: number, perWord: number): number {
  let word = key.length << 24;
  for (let next = at, shift = 0; next < key.length; next += 1, shift += 32 / perWord)
    word |= key.charCodeAt(next) << shift;
  return word;
}
