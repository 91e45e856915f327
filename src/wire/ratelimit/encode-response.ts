import { closeMessage, roomForText, writeText, writeVarint } from '../protobuf/write';
import type { WireResponse, WireStatus, WireUnit, WireJson, WireStruct } from './messages';

/** Lengths inside are at most this many bytes (a varint of 53 bits), a double is eight. */
const ROOM_PER_NODE = 24;

/** The most bytes of `struct`. */
function roomForStruct(struct: WireStruct): number {
  let room = ROOM_PER_NODE;
  for (const name of Object.keys(struct)) {
    room += ROOM_PER_NODE + roomForText(name) + roomForValue(struct[name] as WireJson);
  }
  return room;
}

function roomForValue(value: WireJson): number {
  if (typeof value === 'string') return ROOM_PER_NODE + roomForText(value);
  if (isList(value)) {
    return value.reduce<number>(
      (room, item) => room + ROOM_PER_NODE + roomForValue(item),
      ROOM_PER_NODE,
    );
  }
  return typeof value === 'object' && value !== null
    ? roomForStruct(value) + ROOM_PER_NODE
    : ROOM_PER_NODE;
}

/** Writes the fields of a google.protobuf.Struct at `at`; returns where they end. */
function writeStruct(bytes: Uint8Array, at: number, struct: WireStruct): number {
  let to = at;
  for (const name of Object.keys(struct)) {
    bytes[to] = 0x0a;
    const entry = to + 2;
    const afterName = writeText(bytes, entry, 0x0a, name);
    bytes[afterName] = 0x12;
    const value = afterName + 2;
    const end = writeValue(bytes, value, struct[name] as WireJson);
    to = closeMessage(bytes, entry, closeMessage(bytes, value, end));
  }
  return to;
}

/** A google.protobuf.Value: one field of a oneof, written also when it is the type's default. */
function writeValue(bytes: Uint8Array, at: number, value: WireJson): number {
  if (typeof value === 'string') return writeText(bytes, at, 0x1a, value);
  if (typeof value === 'number') return writeDouble(bytes, at, value);
  if (value === null) return writePair(bytes, at, 0x08, 0);
  if (typeof value === 'boolean') return writePair(bytes, at, 0x20, value ? 1 : 0);
  bytes[at] = isList(value) ? 0x32 : 0x2a;
  const start = at + 2;
  const end = isList(value) ? writeList(bytes, start, value) : writeStruct(bytes, start, value);
  return closeMessage(bytes, start, end);
}

function writeList(bytes: Uint8Array, at: number, list: readonly WireJson[]): number {
  let to = at;
  for (const item of list) {
    bytes[to] = 0x0a;
    to = closeMessage(bytes, to + 2, writeValue(bytes, to + 2, item));
  }
  return to;
}

function writePair(bytes: Uint8Array, at: number, tag: number, value: number): number {
  bytes[at] = tag;
  bytes[at + 1] = value;
  return at + 2;
}

function writeDouble(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = 0x11;
  new DataView(bytes.buffer, bytes.byteOffset).setFloat64(at + 1, value, true);
  return at + 9;
}

function isList(value: WireJson): value is readonly WireJson[] {
  return Array.isArray(value);
}

const UNIT_NUMBERS: Readonly<Record<Exclude<WireUnit, 'UNKNOWN'>, number>> = {
  SECOND: 1,
  MINUTE: 2,
  HOUR: 3,
  DAY: 4,
  MONTH: 5,
  YEAR: 6,
  WEEK: 7,
};

/** The largest `limit_remaining` (uint32). */
const MAX_UINT32 = 0xffff_ffff;

/** A status without its name: code 2, limit 4 + 6 + 2 + 8, remaining 6, duration 4 + 8, its own tag and length 4. */
const ROOM_PER_STATUS = 48;

/** The most bytes of `response`, computed without encoding it. */
export function roomForResponse(response: WireResponse): number {
  const { statuses, responseHeaders, rawBody, dynamicMetadata } = response;
  let room = 16 + statuses.length * ROOM_PER_STATUS;
  for (const status of statuses) {
    const name = status.currentLimit?.name;
    if (name !== undefined && name !== '') room += roomForText(name);
  }
  for (const { key, value } of responseHeaders) room += 12 + roomForText(key) + roomForText(value);
  if (rawBody !== undefined) room += roomForText(rawBody);
  return dynamicMetadata === undefined ? room : room + roomForStruct(dynamicMetadata);
}

/**
 * Writes envoy.service.ratelimit.v3.RateLimitResponse at `at`, where at least `roomForResponse` bytes
 * are free, and returns where it ends. Fields with their default are omitted, as proto3 requires.
 */
export function writeResponse(response: WireResponse, bytes: Uint8Array, at: number): number {
  const { statuses, responseHeaders, rawBody, dynamicMetadata } = response;
  bytes[at] = 0x08;
  bytes[at + 1] = response.overallCode === 'OK' ? 1 : 2;
  let to = at + 2;
  for (const status of statuses) to = writeStatus(status, bytes, to);
  for (const { key, value } of responseHeaders) {
    bytes[to] = 0x1a;
    to = closeMessage(bytes, to + 2, writeHeader(key, value, bytes, to + 2));
  }
  if (rawBody !== undefined) to = writeText(bytes, to, 0x2a, rawBody);
  if (dynamicMetadata === undefined) return to;
  bytes[to] = 0x32;
  return closeMessage(bytes, to + 2, writeStruct(bytes, to + 2, dynamicMetadata));
}

function writeStatus(status: WireStatus, bytes: Uint8Array, at: number): number {
  const { currentLimit, limitRemaining, secondsUntilReset } = status;
  const start = at + 2;
  bytes[at] = 0x12;
  bytes[start] = 0x08;
  bytes[start + 1] = status.code === 'OK' ? 1 : 2;
  let to = start + 2;
  if (currentLimit !== undefined) to = writeLimit(currentLimit, bytes, to);
  if (limitRemaining > 0) {
    bytes[to] = 0x18;
    to = writeVarint(bytes, to + 1, Math.min(limitRemaining, MAX_UINT32));
  }
  if (secondsUntilReset !== undefined) to = writeDuration(secondsUntilReset, bytes, to);
  return closeMessage(bytes, start, to);
}

function writeLimit(
  limit: NonNullable<WireStatus['currentLimit']>,
  bytes: Uint8Array,
  at: number,
): number {
  const start = at + 2;
  bytes[at] = 0x12;
  let to = start;
  if (limit.requestsPerUnit !== 0) {
    bytes[to] = 0x08;
    to = writeVarint(bytes, to + 1, limit.requestsPerUnit);
  }
  if (limit.unit !== 'UNKNOWN') {
    bytes[to] = 0x10;
    bytes[to + 1] = UNIT_NUMBERS[limit.unit];
    to += 2;
  }
  if (limit.name !== '') to = writeText(bytes, to, 0x1a, limit.name);
  if (limit.unitMultiplier !== undefined) to = writeMultiplier(limit.unitMultiplier, bytes, to);
  return closeMessage(bytes, start, to);
}

/** A google.protobuf.UInt32Value as field 4, as proposed for Envoy's RateLimit message. */
function writeMultiplier(multiplier: number, bytes: Uint8Array, at: number): number {
  const start = at + 2;
  bytes[at] = 0x22;
  bytes[start] = 0x08;
  return closeMessage(bytes, start, writeVarint(bytes, start + 1, multiplier));
}

function writeDuration(seconds: number, bytes: Uint8Array, at: number): number {
  const start = at + 2;
  bytes[at] = 0x22;
  if (seconds === 0) return closeMessage(bytes, start, start);
  bytes[start] = 0x08;
  return closeMessage(bytes, start, writeVarint(bytes, start + 1, seconds));
}

function writeHeader(key: string, value: string, bytes: Uint8Array, at: number): number {
  const to = key === '' ? at : writeText(bytes, at, 0x0a, key);
  return value === '' ? to : writeText(bytes, to, 0x12, value);
}
