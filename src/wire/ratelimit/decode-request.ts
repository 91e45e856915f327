import {
  createCursor,
  fail,
  readEnd,
  readTag,
  readVarint32,
  readVarint64,
  refuse,
  skipField,
  startAt,
  type Cursor,
  type Malformed,
} from '../protobuf/read';
import type {
  WireBounds,
  WireDescriptor,
  WireEntry,
  WireLimitOverride,
  WireRequest,
} from './messages';
import { createTextReader, readText, type ReadText } from '../protobuf/text';

/** Decodes `bytes[start, end)`; keeps no reference to `bytes` and never throws. */
export type DecodeRequest = (
  bytes: Uint8Array,
  start: number,
  end: number,
) => WireRequest | Malformed;

/**
 * Domains and entry keys are few: each stays one string object while it repeats. Values are many: remembering
 * those, or whole descriptors, costs more cache misses than it saves.
 */
const NAME_SLOTS = 1024;

/** How a text is read and how long it may be. */
interface TextField {
  readonly read: ReadText;
  readonly maxBytes: number;
  /** For the error about a longer one: its name and the setting. */
  readonly name: string;
  readonly setting: string;
}

/** The readers of a request's texts, and its bounds: shared by every reader below. */
interface Schema {
  readonly domain: TextField;
  readonly key: TextField;
  readonly value: TextField;
  readonly bounds: WireBounds;
}

/**
 * A decoder of envoy.service.ratelimit.v3.RateLimitRequest with its own memory of names. Follows
 * proto3: unknown fields (and known ones of another wire type) are skipped, the last scalar wins,
 * messages given twice merge, text must be UTF-8. Stops where a message goes beyond `bounds`.
 */
export function createRequestDecoder(bounds: WireBounds): DecodeRequest {
  const cursor = createCursor();
  const { maxNameBytes, maxValueBytes } = bounds;
  const name = { maxBytes: maxNameBytes, setting: 'MAX_NAME_BYTES' };
  const schema: Schema = {
    domain: { ...name, name: 'the domain', read: createTextReader(NAME_SLOTS) },
    key: { ...name, name: 'a key', read: createTextReader(NAME_SLOTS) },
    value: {
      name: 'a value',
      maxBytes: maxValueBytes,
      setting: 'MAX_VALUE_BYTES',
      read: readText,
    },
    bounds,
  };
  return (bytes, start, end) => {
    startAt(cursor, bytes, start, end);
    const request = readRequest(cursor, schema);
    if (cursor.fault === undefined) return request;
    return { kind: cursor.isTooMuch ? 'too_much' : 'malformed', reason: cursor.fault };
  };
}

export function isMalformed(decoded: object): decoded is Malformed {
  return 'kind' in decoded;
}

function readRequest(cursor: Cursor, schema: Schema): WireRequest {
  const { maxDescriptors } = schema.bounds;
  let domain = '';
  let hitsAddend = 0;
  let descriptors: WireDescriptor[] | undefined;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag === 0x0a) domain = takeText(cursor, schema.domain);
    else if (tag === 0x12) {
      descriptors = append(descriptors, readDescriptor(cursor, schema));
      if (descriptors.length > maxDescriptors) {
        refuse(cursor, tooMany('the request', 'descriptors', 'MAX_DESCRIPTORS', maxDescriptors));
      }
    } else if (tag === 0x18) hitsAddend = readVarint32(cursor);
    else skipField(cursor, tag);
  }
  return { domain, descriptors: descriptors ?? [], hitsAddend };
}

function readDescriptor(cursor: Cursor, schema: Schema): WireDescriptor {
  const { maxEntries } = schema.bounds;
  const outer = cursor.end;
  cursor.end = readEnd(cursor);
  let entries: WireEntry[] | undefined;
  let limit: WireLimitOverride | undefined;
  let hits: number | bigint | undefined;
  let isNegativeHits = false;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag === 0x0a) {
      entries = append(entries, readEntry(cursor, schema));
      if (entries.length > maxEntries) {
        refuse(cursor, tooMany('a descriptor', 'entries', 'MAX_DESCRIPTOR_ENTRIES', maxEntries));
      }
    } else if (tag === 0x12) limit = readLimit(cursor, limit);
    else if (tag === 0x1a) hits = readWrapped(cursor, hits ?? 0);
    else if (tag === 0x20) isNegativeHits = readVarint64(cursor) !== 0;
    else skipField(cursor, tag);
  }
  leave(cursor, outer);
  return { entries: entries ?? [], limit, hits, isNegativeHits };
}

function readEntry(cursor: Cursor, { key: keyField, value: valueField }: Schema): WireEntry {
  const outer = cursor.end;
  cursor.end = readEnd(cursor);
  let key = '';
  let value = '';
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag === 0x0a) key = takeText(cursor, keyField);
    else if (tag === 0x12) value = takeText(cursor, valueField);
    else skipField(cursor, tag);
  }
  leave(cursor, outer);
  return { key, value };
}

function readLimit(cursor: Cursor, before: WireLimitOverride | undefined): WireLimitOverride {
  const outer = cursor.end;
  cursor.end = readEnd(cursor);
  let requestsPerUnit = before?.requestsPerUnit ?? 0;
  let unit = before?.unit ?? 0;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag === 0x08) requestsPerUnit = readVarint32(cursor);
    else if (tag === 0x10) unit = readVarint32(cursor) | 0;
    else skipField(cursor, tag);
  }
  leave(cursor, outer);
  return { requestsPerUnit, unit };
}

/** google.protobuf.UInt64Value; `before` is its value if the field is repeated. */
function readWrapped(cursor: Cursor, before: number | bigint): number | bigint {
  const outer = cursor.end;
  cursor.end = readEnd(cursor);
  let value = before;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag === 0x08) value = readVarint64(cursor);
    else skipField(cursor, tag);
  }
  leave(cursor, outer);
  return value;
}

/** Most lists hold one item: this one has room for one only, where pushing to an empty list reserves many. */
function append<T>(list: T[] | undefined, item: T): T[] {
  if (list === undefined) return [item];
  list.push(item);
  return list;
}

function takeText(cursor: Cursor, field: TextField): string {
  const end = readEnd(cursor);
  const length = end - cursor.at;
  if (length > field.maxBytes) {
    refuse(cursor, tooLong(field, length));
    return '';
  }
  const text = field.read(cursor.bytes, cursor.at, end);
  cursor.at = end;
  if (text !== undefined) return text;
  fail(cursor, 'a string is not valid UTF-8');
  return '';
}

/** Without a count: the rest is not read. */
function tooMany(whose: string, what: string, setting: string, max: number): string {
  return `${whose} has more ${what} than ${setting} (${String(max)})`;
}

function tooLong({ name, setting, maxBytes }: TextField, length: number): string {
  return `${name} has ${String(length)} bytes, more than ${setting} (${String(maxBytes)})`;
}

/** Continues with the outer message; a fault inside fails the whole. */
function leave(cursor: Cursor, outer: number): void {
  cursor.end = outer;
  if (cursor.fault !== undefined) cursor.at = outer;
}
