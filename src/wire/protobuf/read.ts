/**
 * Bytes that are not a valid message (`malformed`), or a message beyond the bounds (`too_much`). `reason` is a lowercase
 * sentence without any of the bytes.
 */
export interface Malformed {
  readonly kind: 'malformed' | 'too_much';
  readonly reason: string;
}

/**
 * A position in a protobuf message. The first fault stays: it moves `at` to `end`, so that every loop
 * over fields ends, and a hostile message costs no exception.
 */
export interface Cursor {
  bytes: Uint8Array;
  at: number;
  end: number;
  fault: string | undefined;
  /** The bytes are valid, but exceed a bound of the reader. */
  isTooMuch: boolean;
}

export function createCursor(): Cursor {
  return { bytes: new Uint8Array(0), at: 0, end: 0, fault: undefined, isTooMuch: false };
}

export function startAt(cursor: Cursor, bytes: Uint8Array, start: number, end: number): void {
  cursor.bytes = bytes;
  cursor.at = start;
  cursor.end = end;
  cursor.fault = undefined;
  cursor.isTooMuch = false;
}

export function fail(cursor: Cursor, reason: string): 0 {
  cursor.fault ??= reason;
  cursor.at = cursor.end;
  return 0;
}

/** Stops at a message that is valid so far but exceeds a bound. */
export function refuse(cursor: Cursor, reason: string): void {
  cursor.isTooMuch ||= cursor.fault === undefined;
  fail(cursor, reason);
}

/** A varint's low 32 bits, unsigned; higher bits are dropped, as protobuf does for uint32 and enums. */
export function readVarint32(cursor: Cursor): number {
  const { bytes, at, end } = cursor;
  if (at < end) {
    const first = bytes[at] as number;
    if (first < 0x80) {
      cursor.at = at + 1;
      return first;
    }
  }
  return readLongVarint32(cursor);
}

function readLongVarint32(cursor: Cursor): number {
  const { bytes, end } = cursor;
  let at = cursor.at;
  let value = 0;
  for (let shift = 0; at < end && shift < 70; shift += 7) {
    const byte = bytes[at] as number;
    at += 1;
    if (shift < 32) value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (shift === 63 && byte > 1) break;
      cursor.at = at;
      return value >>> 0;
    }
  }
  return failVarint(cursor, at);
}

/** A varint as uint64: a number up to 2^53 - 1, a bigint above. */
export function readVarint64(cursor: Cursor): number | bigint {
  const { bytes, end } = cursor;
  let at = cursor.at;
  let low = 0;
  let high = 0;
  for (let shift = 0; at < end && shift < 70; shift += 7) {
    const byte = bytes[at] as number;
    at += 1;
    // Seven groups of seven bits make 49; both halves stay exact as numbers.
    if (shift < 49) low += (byte & 0x7f) * 2 ** shift;
    else high += (byte & 0x7f) * 2 ** (shift - 49);
    if (byte < 0x80) {
      if (shift === 63 && byte > 1) break;
      cursor.at = at;
      return high < 16 ? low + high * 2 ** 49 : (BigInt(high) << 49n) + BigInt(low);
    }
  }
  return failVarint(cursor, at);
}

function failVarint(cursor: Cursor, at: number): 0 {
  return fail(cursor, at < cursor.end ? 'a varint is longer than 64 bits' : 'a varint is cut off');
}

/**
 * The next tag: field number × 8 + wire type. Refuses field number 0 and numbers above 2^29 - 1;
 * returns 0, which is not a tag, for a fault.
 */
export function readTag(cursor: Cursor): number {
  const { bytes, at, end } = cursor;
  // A single byte from 8 to 127 is a field number from 1 to 15.
  const first = at < end ? (bytes[at] as number) : 0;
  if (first >= 8 && first < 0x80) {
    cursor.at = at + 1;
    return first;
  }
  const tag = readVarint64(cursor);
  if (cursor.fault !== undefined) return 0;
  if (typeof tag === 'number' && tag >= 8 && tag <= 0xffff_ffff) return tag;
  return fail(cursor, 'a field number is outside of 1 to 536870911');
}

/** Reads a length and returns where the length-delimited value ends. */
export function readEnd(cursor: Cursor): number {
  const { bytes, at, end } = cursor;
  const first = at < end ? (bytes[at] as number) : 0x80;
  if (first < 0x80) {
    cursor.at = at + 1;
    if (at + 1 + first <= end) return at + 1 + first;
    fail(cursor, 'a length reaches beyond the end of its message');
    return end;
  }
  const length = readVarint64(cursor);
  if (cursor.fault === undefined && length > end - cursor.at) {
    fail(cursor, 'a length reaches beyond the end of its message');
  }
  return cursor.fault === undefined ? cursor.at + Number(length) : end;
}

/** How deep unknown groups may nest; protobuf's own default. */
const MAX_GROUP_DEPTH = 100;

/** Skips the value of an unknown field (or of a known field with another wire type). */
export function skipField(cursor: Cursor, tag: number): void {
  if ((tag & 7) === 3) skipGroup(cursor, tag);
  else skipPlain(cursor, tag & 7);
}

function skipPlain(cursor: Cursor, wireType: number): void {
  if (wireType === 0) readVarint64(cursor);
  else if (wireType === 2) cursor.at = readEnd(cursor);
  else if (wireType === 1) skipBytes(cursor, 8);
  else if (wireType === 5) skipBytes(cursor, 4);
  else if (wireType === 4) fail(cursor, 'a group ends that did not begin');
  else fail(cursor, `wire type ${String(wireType)} does not exist`);
}

function skipBytes(cursor: Cursor, count: number): void {
  if (cursor.end - cursor.at < count) fail(cursor, 'a fixed-length field is cut off');
  else cursor.at += count;
}

/** Keeps the numbers of the open groups on a list, bounded by MAX_GROUP_DEPTH, instead of recursing. */
function skipGroup(cursor: Cursor, startTag: number): void {
  const open = [startTag >>> 3];
  while (open.length > 0 && cursor.fault === undefined) {
    if (cursor.at >= cursor.end) {
      fail(cursor, 'a group does not end');
      return;
    }
    const tag = readTag(cursor);
    if ((tag & 7) === 3) open.push(tag >>> 3);
    else if ((tag & 7) === 4) closeGroup(cursor, open, tag >>> 3);
    else if (tag !== 0) skipPlain(cursor, tag & 7);
    if (open.length > MAX_GROUP_DEPTH) fail(cursor, 'groups are nested too deep');
  }
}

function closeGroup(cursor: Cursor, open: number[], number: number): void {
  if (open.pop() !== number) fail(cursor, 'a group ends that did not begin');
}
