import {
  createCursor,
  fail,
  readEnd,
  readTag,
  readVarint32,
  readVarint64,
  skipField,
  startAt,
  type Cursor,
} from './cursor';
import type {
  Malformed,
  WireDescriptor,
  WireEntry,
  WireLimitOverride,
  WireRequest,
} from './messages';
import { createTextReader, readText, type ReadText } from './text';

/** Decodes `bytes[start, end)`; keeps nothing of `bytes` and never throws. */
export type DecodeRequest = (
  bytes: Uint8Array,
  start: number,
  end: number,
) => WireRequest | Malformed;

/**
 * Domains and entry keys are few: each is one string object as long as it keeps coming. Values are many: to remember
 * those, or whole descriptors, costs more in memory that is not close to the processor than it saves.
 */
const NAME_SLOTS = 1024;

/**
 * A decoder of envoy.service.ratelimit.v3.RateLimitRequest with its own memory of names. Follows
 * proto3: unknown fields (and known ones of another wire type) are skipped, the last scalar wins,
 * messages given twice merge, text must be UTF-8.
 */
export function createRequestDecoder(): DecodeRequest {
  const cursor = createCursor();
  const readDomain = createTextReader(NAME_SLOTS);
  const readKey = createTextReader(NAME_SLOTS);
  return (bytes, start, end) => {
    startAt(cursor, bytes, start, end);
    const request = readRequest(cursor, readDomain, readKey);
    return cursor.fault === undefined ? request : { kind: 'malformed', reason: cursor.fault };
  };
}

export function isMalformed(decoded: object): decoded is Malformed {
  return 'kind' in decoded;
}

function readRequest(cursor: Cursor, readDomain: ReadText, readKey: ReadText): WireRequest {
  let domain = '';
  let hitsAddend = 0;
  let descriptors: WireDescriptor[] | undefined;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag === 0x0a) domain = takeText(cursor, readDomain);
    else if (tag === 0x12) descriptors = append(descriptors, readDescriptor(cursor, readKey));
    else if (tag === 0x18) hitsAddend = readVarint32(cursor);
    else skipField(cursor, tag);
  }
  return { domain, descriptors: descriptors ?? [], hitsAddend };
}

function readDescriptor(cursor: Cursor, readKey: ReadText): WireDescriptor {
  const outer = cursor.end;
  cursor.end = readEnd(cursor);
  let entries: WireEntry[] | undefined;
  let limit: WireLimitOverride | undefined;
  let hits: number | bigint | undefined;
  let isNegativeHits = false;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag === 0x0a) entries = append(entries, readEntry(cursor, readKey));
    else if (tag === 0x12) limit = readLimit(cursor, limit);
    else if (tag === 0x1a) hits = readWrapped(cursor, hits ?? 0);
    else if (tag === 0x20) isNegativeHits = readVarint64(cursor) !== 0;
    else skipField(cursor, tag);
  }
  leave(cursor, outer);
  return { entries: entries ?? [], limit, hits, isNegativeHits };
}

function readEntry(cursor: Cursor, readKey: ReadText): WireEntry {
  const outer = cursor.end;
  cursor.end = readEnd(cursor);
  let key = '';
  let value = '';
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag === 0x0a) key = takeText(cursor, readKey);
    else if (tag === 0x12) value = takeText(cursor, readText);
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

/** google.protobuf.UInt64Value; `before` is its value when the field came already. */
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

/** Most lists hold one: it takes the room of one, where a list that is pushed to takes that of many. */
function append<T>(list: T[] | undefined, item: T): T[] {
  if (list === undefined) return [item];
  list.push(item);
  return list;
}

function takeText(cursor: Cursor, read: ReadText): string {
  const end = readEnd(cursor);
  const text = read(cursor.bytes, cursor.at, end);
  cursor.at = end;
  if (text !== undefined) return text;
  fail(cursor, 'a text is no valid UTF-8');
  return '';
}

/** Back to the message around; a fault inside is one of the whole. */
function leave(cursor: Cursor, outer: number): void {
  cursor.end = outer;
  if (cursor.fault !== undefined) cursor.at = outer;
}
