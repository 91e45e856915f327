/** One octet (or element). The caller knows that it is there; beyond the end it would be 0. */
export function octetAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** 32 bits in network order, unsigned. */
export function uint32At(bytes: Uint8Array, at: number): number {
  return (
    ((octetAt(bytes, at) << 24) | (octetAt(bytes, at + 1) << 16) | lower16At(bytes, at + 2)) >>> 0
  );
}

/** The lower 31 bits of four octets: a stream id or a window increment, its reserved bit ignored. */
export function uint31At(bytes: Uint8Array, at: number): number {
  return (
    ((octetAt(bytes, at) & 0x7f) << 24) | (octetAt(bytes, at + 1) << 16) | lower16At(bytes, at + 2)
  );
}

function lower16At(bytes: Uint8Array, at: number): number {
  return (octetAt(bytes, at) << 8) | octetAt(bytes, at + 1);
}

/** Writes 32 bits in network order. */
export function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** A call of `set` costs more than a few dozen octets copied one by one. */
const WORTH_A_CALL = 64;

/** Copies all of `source` to `at`. */
export function putOctets(bytes: Uint8Array, at: number, source: Uint8Array): void {
  if (source.length > WORTH_A_CALL) {
    bytes.set(source, at);
    return;
  }
  for (let i = 0; i < source.length; i++) bytes[at + i] = octetAt(source, i);
}

/** A copy of `bytes[start, end)`. (`slice` of a Buffer would share its memory with the socket.) */
export function copyOctets(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}
