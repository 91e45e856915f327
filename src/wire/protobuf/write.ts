/*
 * Writes protobuf fields into memory that the caller knows to be large enough. A nested message gets one byte for its length
 * and is moved if it turns out longer than 127 bytes.
 */

/** 53 bits in groups of seven; also ends the loop for other numbers. */
const MAX_VARINT_BYTES = 8;

/** Writes a varint of up to 53 bits and returns where it ends: at most 8 bytes later, whatever `value` is. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  const last = at + MAX_VARINT_BYTES - 1;
  let rest = value;
  let to = at;
  while (rest >= 0x80 && to < last) {
    bytes[to++] = (rest % 0x80) | 0x80;
    rest = rest > 0x7fff_ffff ? Math.floor(rest / 0x80) : rest >>> 7;
  }
  bytes[to++] = rest & 0x7f;
  return to;
}

/** Closes the message whose content is `bytes[start, end)` with its length at `start - 1`. */
export function closeMessage(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length < 0x80) {
    bytes[start - 1] = length;
    return end;
  }
  let lengthBytes = 1;
  for (let rest = length; rest >= 0x80; rest = Math.floor(rest / 0x80)) lengthBytes += 1;
  const shift = lengthBytes - 1;
  bytes.copyWithin(start + shift, start, end);
  writeVarint(bytes, start - 1, length);
  return end + shift;
}

const encoder = new TextEncoder();

/** Writes a text field of one tag byte; needs `roomForText` bytes. */
export function writeText(bytes: Uint8Array, at: number, tag: number, text: string): number {
  bytes[at] = tag;
  const start = at + 2;
  const { length } = text;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return writeUnicode(bytes, start, text);
    bytes[start + index] = unit;
  }
  return closeMessage(bytes, start, start + length);
}

function writeUnicode(bytes: Uint8Array, start: number, text: string): number {
  const { written } = encoder.encodeInto(text, bytes.subarray(start));
  return closeMessage(bytes, start, start + written);
}

/** The most bytes of a text field: UTF-8 takes at most three bytes per UTF-16 unit. */
export function roomForText(text: string): number {
  return 10 + 3 * text.length;
}

/** Writes a length-delimited field of one tag byte; needs `roomForBytes` bytes. */
export function writeBytes(
  bytes: Uint8Array,
  at: number,
  tag: number,
  content: Uint8Array,
): number {
  bytes[at] = tag;
  const start = writeVarint(bytes, at + 1, content.length);
  bytes.set(content, start);
  return start + content.length;
}

/** The most bytes of a length-delimited field. */
export function roomForBytes(content: Uint8Array): number {
  return 10 + content.length;
}
