import { closeMessage, roomForText, writeText } from '../protobuf/write';
import type { WireJson, WireStruct } from './messages';

/** Lengths inside are at most this many bytes (a varint of 53 bits), a double is eight. */
const ROOM_PER_NODE = 24;

/** The most bytes of `struct`. */
export function roomForStruct(struct: WireStruct): number {
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
export function writeStruct(bytes: Uint8Array, at: number, struct: WireStruct): number {
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
