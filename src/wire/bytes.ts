export const NO_BYTES = new Uint8Array(0);

/** One byte (or element). The caller knows that it exists; beyond the end it would be 0. */
export function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** 24 bits in network order, unsigned. */
export function uint24At(bytes: Uint8Array, at: number): number {
  return (byteAt(bytes, at) << 16) | (byteAt(bytes, at + 1) << 8) | byteAt(bytes, at + 2);
}

/** 32 bits in network order, unsigned. */
export function uint32At(bytes: Uint8Array, at: number): number {
  return ((byteAt(bytes, at) << 24) | uint24At(bytes, at + 1)) >>> 0;
}

/** The lower 31 bits of four bytes: a stream id or a window increment, its reserved bit ignored. */
export function uint31At(bytes: Uint8Array, at: number): number {
  return ((byteAt(bytes, at) & 0x7f) << 24) | uint24At(bytes, at + 1);
}

/** Writes 32 bits in network order. */
export function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** From this length on a call of `set` costs less than a loop. */
const MIN_SET_BYTES = 65;

/** Copies all of `source` to `at`. */
export function putBytes(bytes: Uint8Array, at: number, source: Uint8Array): void {
  if (source.length >= MIN_SET_BYTES) {
    bytes.set(source, at);
    return;
  }
  for (let i = 0; i < source.length; i++) bytes[at + i] = byteAt(source, i);
}

/** A copy of `bytes[start, end)`. (`slice` of a Buffer would share its memory with the socket.) */
export function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}

/** Works on any bytes, which the types of `Buffer` do not say; its `toString` makes a Buffer of them first. */
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string;
};

/** The bytes `bytes[start, end)` as characters. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end);
}

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
