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

const FINAL_ROUNDS = 3;

/**
 * HalfSipHash-1-3 (Aumasson and Bernstein) of a key's characters, four in a word, or two of a wide key. It has a secret of this process:
 * callers choose keys, and must not be able to choose such as collide.
 */
export function createKeyHash(secret = randomBytes(8)): KeyHash {
  const first = secret.readInt32LE(0);
  const narrow = secret.readInt32LE(4);
  // Words of wide keys mean something else.
  const wide = ~narrow;

  return (key) => {
    const isKeyWide = isWide(key);
    const second = isKeyWide ? wide : narrow;
    const shift = isKeyWide ? 1 : 2;
    const whole = key.length >> shift;
    let v0 = first;
    let v1 = second;
    let v2 = first ^ 0x6c796765;
    let v3 = second ^ 0x74656462;
    for (let step = 0; step <= whole + FINAL_ROUNDS; step += 1) {
      let word = 0;
      if (step < whole) word = isKeyWide ? wideWord(key, step << 1) : narrowWord(key, step << 2);
      else if (step === whole) word = lastWord(key, step << shift, 32 >> shift);
      else if (step === whole + 1) v2 ^= 0xff;
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
}

function narrowWord(key: string, at: number): number {
  return (
    key.charCodeAt(at) |
    (key.charCodeAt(at + 1) << 8) |
    (key.charCodeAt(at + 2) << 16) |
    (key.charCodeAt(at + 3) << 24)
  );
}

function wideWord(key: string, at: number): number {
  return key.charCodeAt(at) | (key.charCodeAt(at + 1) << 16);
}

/** The length, and the characters from `from` on, each in `bits`: fewer than a word has. */
function lastWord(key: string, from: number, bits: number): number {
  let word = key.length << 24;
  for (let at = from, shift = 0; at < key.length; at += 1, shift += bits)
    word |= key.charCodeAt(at) << shift;
  return word;
}
