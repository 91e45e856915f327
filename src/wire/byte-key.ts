import { byteAt, NO_BYTES } from './bytes';

/** A copy of bytes that later ones are compared with. */
export interface ByteKey {
  readonly length: number;
  readonly bytes: Uint8Array;
  /** The bytes four at a time, in the byte order of this machine; without up to three at the end. */
  readonly words: Int32Array;
  /** The last four bytes. */
  readonly lastWord: number;
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const WORD = 4;

export function createByteKey(bytes: Uint8Array, start: number, end: number): ByteKey {
  const copy = new Uint8Array(bytes.subarray(start, end));
  const { buffer, length } = copy;
  return {
    length,
    bytes: copy,
    words: new Int32Array(buffer, 0, length >> 2),
    lastWord: length < WORD ? 0 : new DataView(buffer).getInt32(length - WORD, IS_LITTLE_ENDIAN),
  };
}

/**
 * The chunk in comparison, how often it was compared, and a view that reads words of it. Creating the view costs more than
 * three comparisons: what a socket gives for a single call is compared byte by byte.
 */
let chunk: Uint8Array = NO_BYTES;
let comparisons = 0;
let view: DataView | undefined;

const COMPARISONS_BEFORE_VIEW = 3;

/** Whether `bytes[start, start + key.length)` equal `key`; the caller knows that all of them exist. */
export function isKey(key: ByteKey, bytes: Uint8Array, start: number): boolean {
  if (bytes !== chunk) useChunk(bytes);
  if (comparisons < COMPARISONS_BEFORE_VIEW || key.length < WORD) {
    comparisons++;
    return sameBytes(key.bytes, bytes, start);
  }
  view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return sameWords(key, view, start);
}

/** Drops the reference to the last chunk. Call it when a socket read is done. */
export function forgetChunk(): void {
  useChunk(NO_BYTES);
}

function useChunk(bytes: Uint8Array): void {
  chunk = bytes;
  comparisons = 0;
  view = undefined;
}

function sameWords({ words, length, lastWord }: ByteKey, bytes: DataView, start: number): boolean {
  if (bytes.getInt32(start + length - WORD, IS_LITTLE_ENDIAN) !== lastWord) return false;
  for (let i = 0, at = start; i < words.length; i++, at += WORD) {
    if (bytes.getInt32(at, IS_LITTLE_ENDIAN) !== words[i]) return false;
  }
  return true;
}

function sameBytes(key: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = key.length - 1; i >= 0; i--) {
    if (key[i] !== bytes[start + i]) return false;
  }
  return true;
}

/** A cheap hash of up to some 20 bytes spread over `bytes[start, end)`; equal bytes have equal hashes. */
export function sampledHash(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const step = 1 + (length >> 4);
  let hash = length;
  for (let i = end - 1; i >= start; i -= step)
    hash = Math.imul(hash ^ byteAt(bytes, i), 0x01000193);
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}
