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
