import { createByteKey, latin1Text } from '../bytes';
import { createKnownStrings, isRepeated, keep, recall, recallLast } from '../known-strings';

/** Longer texts are not kept. */
const MAX_KEPT_LENGTH = 64;

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

/** Keeps up to `slots` (a power of two) short ASCII texts: repeated ones are the same string object, already hashed for later maps. */
export function createTextReader(slots: number): ReadText {
  const known = createKnownStrings<string>(slots);
  return (bytes, start, end) => {
    const length = end - start;
    const last = recallLast(known, bytes, start, length);
    if (last !== undefined) return last;
    if (length > MAX_KEPT_LENGTH) return readText(bytes, start, end);
    const hash = asciiHash(bytes, start, end);
    if (hash === NOT_ASCII) return decode(bytes.subarray(start, end));
    const found = recall(known, hash, bytes, start, length);
    if (found !== undefined) return found;
    const text = asciiText(bytes, start, end);
    if (isRepeated(known, hash)) keep(known, hash, createByteKey(bytes, start, end), text);
    return text;
  };
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
