import { latin1Text, createByteKey, isKey, type ByteKey } from '../bytes';

/** Longer texts are not remembered. */
const MAX_REMEMBERED_LENGTH = 64;

type Four = [number, number, number, number];

/** The text of `bytes[start, end)`; undefined if it is not valid UTF-8. */
export type ReadText = (bytes: Uint8Array, start: number, end: number) => string | undefined;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Creates a new string each time. */
export function readText(bytes: Uint8Array, start: number, end: number): string | undefined {
  let seen = 0;
  for (let at = start; at < end; at++) seen |= bytes[at] as number;
  return seen < 0x80 ? asciiText(bytes, start, end) : decode(bytes.subarray(start, end));
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A text that was read twice, with its bytes: comparing those is cheaper than comparing strings. */
interface Remembered {
  readonly key: ByteKey;
  readonly text: string;
}

/**
 * A reader that remembers up to `slots` (a power of two) short ASCII texts read at least twice. Repeated texts are the same
 * string object, already hashed for later maps. The newest text of a slot wins; all bytes are compared, so that a collision
 * costs time only.
 */
export function createTextReader(slots: number): ReadText {
  const remembered = new Array<Remembered | undefined>(slots).fill(undefined);
  /** Per slot: the hash of the last text that was not remembered. */
  const seenOnce = new Int32Array(slots).fill(-1);
  /** The last hit: most texts of one field are the same. */
  let last: Remembered | undefined;
  return (bytes, start, end) => {
    const length = end - start;
    if (isRemembered(last, bytes, start, length)) return last.text;
    if (length > MAX_REMEMBERED_LENGTH) return readText(bytes, start, end);
    const hash = asciiHash(bytes, start, end);
    if (hash === NOT_ASCII) return decode(bytes.subarray(start, end));
    const slot = hash & (slots - 1);
    const found = remembered[slot];
    if (isRemembered(found, bytes, start, length)) {
      last = found;
      return found.text;
    }
    const text = asciiText(bytes, start, end);
    if (seenOnce[slot] === hash) remembered[slot] = { key: createByteKey(bytes, start, end), text };
    else seenOnce[slot] = hash;
    return text;
  };
}

function isRemembered(
  known: Remembered | undefined,
  bytes: Uint8Array,
  start: number,
  length: number,
): known is Remembered {
  return known?.key.length === length && isKey(known.key, bytes, start);
}

const NOT_ASCII = -1;

function asciiHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  let seen = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    seen |= byte;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  return seen < 0x80 ? (hash ^ (hash >>> 15)) & 0x7fffffff : NOT_ASCII;
}

/** Up to this length V8 joins pieces by copying; a longer join would be a tree that is flattened later. */
const MAX_JOINED_LENGTH = 12;

function asciiText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > MAX_JOINED_LENGTH) return latin1Text(bytes, start, end);
  let text = '';
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as Four;
    text += String.fromCharCode(a, b, c, d);
  }
  for (; at < end; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}
