import { closeMessage, roomForText, writeText, writeVarint } from '../protobuf/write';
import type { SpansOrigin, SpanIds } from './shapes';

const INITIAL_BYTES = 16_384;
/** Ids, times and flags of a span with their tags, and lengths around it. */
const ROOM_PER_SPAN = 80;
const ROOM_PER_LINK = 48;
const ROOM_PER_ATTRIBUTE = 24;
const MAX_LENGTH_BYTES = 5;

/** W3C's sampled, and "the next bit means something" (Span.flags, SpanFlags of OpenTelemetry). */
const FLAGS = 0x101;
const PARENT_IS_REMOTE = 0x200;
const STATUS_ERROR = 2;

/** Encodes spans one after the other into memory that it reuses. */
export function createSpanWriter(origin: SpansOrigin) {
  let bytes = new Uint8Array(INITIAL_BYTES);
  let at = 0;
  let start = 0;

  const reserve = (more: number) => {
    if (at + more <= bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * bytes.length, at + more));
    larger.set(bytes);
    bytes = larger;
  };

  return {
    /** Begins a span; times are Unix milliseconds with fraction. The calls until `end` belong to it. */
    begin(
      shape: Uint8Array,
      ids: SpanIds,
      parent: SpanIds | undefined,
      startMs: number,
      endMs: number,
    ) {
      reserve(ROOM_PER_SPAN + roomForText(ids.traceState) + shape.length);
      bytes[at] = 0x12;
      start = at + 2;
      at = writeIds(bytes, start, ids);
      if (ids.traceState !== '') at = writeText(bytes, at, 0x1a, ids.traceState);
      if (parent !== undefined) at = writeSpanId(bytes, at, 0x22, parent);
      at = writePiece(bytes, at, shape);
      bytes[at] = 0x39;
      at = writeUnixNanos(bytes, at + 1, startMs);
      bytes[at] = 0x41;
      at = writeUnixNanos(bytes, at + 1, endMs);
      bytes[at] = 0x85;
      at = writeFlags(bytes, at + 1, 0x01, parent?.isRemote === true);
    },
    /** An attribute; its key comes from `attributeKey`. */
    text(key: Uint8Array, value: string) {
      reserve(ROOM_PER_ATTRIBUTE + key.length + roomForText(value));
      bytes[at] = 0x4a;
      const valueAt = writePiece(bytes, at + 2, key);
      bytes[valueAt] = 0x12;
      const end = writeText(bytes, valueAt + 2, 0x0a, value);
      at = closeMessage(bytes, at + 2, closeMessage(bytes, valueAt + 2, end));
    },
    /** An attribute with an integer of 0 or more. */
    count(key: Uint8Array, value: number) {
      reserve(ROOM_PER_ATTRIBUTE + key.length);
      bytes[at] = 0x4a;
      const valueAt = writePiece(bytes, at + 2, key);
      bytes[valueAt] = 0x12;
      bytes[valueAt + 2] = 0x18;
      const end = writeVarint(bytes, valueAt + 3, value);
      at = closeMessage(bytes, at + 2, closeMessage(bytes, valueAt + 2, end));
    },
    link(ids: SpanIds) {
      reserve(ROOM_PER_LINK + roomForText(ids.traceState));
      bytes[at] = 0x6a;
      const from = at + 2;
      let end = writeIds(bytes, from, ids);
      if (ids.traceState !== '') end = writeText(bytes, end, 0x1a, ids.traceState);
      at = closeMessage(bytes, from, writeFlags(bytes, end, 0x35, ids.isRemote));
    },
    droppedLinks(count: number) {
      reserve(ROOM_PER_ATTRIBUTE);
      bytes[at] = 0x70;
      at = writeVarint(bytes, at + 1, count);
    },
    /** Ends the span; `error` describes its failure, undefined means success. */
    end(error: string | undefined) {
      if (error !== undefined) {
        reserve(ROOM_PER_ATTRIBUTE + roomForText(error));
        bytes[at] = 0x7a;
        bytes[at + 2] = 0x18;
        bytes[at + 3] = STATUS_ERROR;
        at = closeMessage(bytes, at + 2, writeText(bytes, at + 4, 0x12, error));
      }
      reserve(MAX_LENGTH_BYTES);
      at = closeMessage(bytes, start, at);
    },
    /** Returns an ExportTraceServiceRequest of all spans and forgets them. */
    take: () => {
      const request = toRequest(origin, bytes.subarray(0, at));
      at = 0;
      return request;
    },
  };
}

export type SpanWriter = ReturnType<typeof createSpanWriter>;

/** ExportTraceServiceRequest { resource_spans: [{ resource, scope_spans: [{ scope, spans }] }] } */
function toRequest({ resource, scope }: SpansOrigin, spans: Uint8Array): Uint8Array {
  const head = new Uint8Array(resource.length + scope.length + 2 * (1 + MAX_LENGTH_BYTES));
  const scopeSpansLength = scope.length + spans.length;
  // The length of ResourceSpans includes that of ScopeSpans.
  const lengthBytes = writeVarint(head, 0, scopeSpansLength);
  head[0] = 0x0a;
  let at = writeVarint(head, 1, resource.length + 1 + lengthBytes + scopeSpansLength);
  at = writePiece(head, at, resource);
  head[at] = 0x12;
  at = writePiece(head, writeVarint(head, at + 1, scopeSpansLength), scope);
  const request = new Uint8Array(at + spans.length);
  request.set(head.subarray(0, at));
  request.set(spans, at);
  return request;
}

function writePiece(bytes: Uint8Array, at: number, piece: Uint8Array): number {
  bytes.set(piece, at);
  return at + piece.length;
}

/** The fields trace_id and span_id, alike in Span and Link. */
function writeIds(bytes: Uint8Array, at: number, ids: SpanIds): number {
  bytes[at] = 0x0a;
  bytes[at + 1] = 16;
  putInt32(bytes, at + 2, ids.trace0);
  putInt32(bytes, at + 6, ids.trace1);
  putInt32(bytes, at + 10, ids.trace2);
  putInt32(bytes, at + 14, ids.trace3);
  return writeSpanId(bytes, at + 18, 0x12, ids);
}

function writeSpanId(bytes: Uint8Array, at: number, tag: number, ids: SpanIds): number {
  bytes[at] = tag;
  bytes[at + 1] = 8;
  putInt32(bytes, at + 2, ids.span0);
  putInt32(bytes, at + 6, ids.span1);
  return at + 10;
}

function writeFlags(bytes: Uint8Array, at: number, tag: number, isRemote: boolean): number {
  const flags = isRemote ? FLAGS | PARENT_IS_REMOTE : FLAGS;
  bytes[at] = tag;
  bytes[at + 1] = flags;
  bytes[at + 2] = flags >> 8;
  bytes[at + 3] = 0;
  bytes[at + 4] = 0;
  return at + 5;
}

function putInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >> 24;
  bytes[at + 1] = value >> 16;
  bytes[at + 2] = value >> 8;
  bytes[at + 3] = value;
}

/** Bits of a millisecond count that are multiplied separately, so that every product stays below 2^53. */
const LOW_BITS = 20;
const LOW = 2 ** LOW_BITS;
const WORD = 2 ** 32;
const NANOS_PER_MS = 1_000_000;

/** Writes Unix milliseconds with fraction as nanoseconds in fixed64 and returns where it ends. */
function writeUnixNanos(bytes: Uint8Array, at: number, ms: number): number {
  const whole = Math.floor(ms);
  const high = Math.floor(whole / LOW);
  const fromHigh = high * NANOS_PER_MS;
  const fromLow = (whole - high * LOW) * NANOS_PER_MS + Math.round((ms - whole) * NANOS_PER_MS);
  // fromHigh counts pieces of 2^20: its lowest 12 bits fall into the lower word.
  const lower = (fromHigh % (WORD / LOW)) * LOW + fromLow;
  const upper = Math.floor(fromHigh / (WORD / LOW)) + Math.floor(lower / WORD);
  return putLittle(bytes, putLittle(bytes, at, lower % WORD), upper);
}

/** Writes 32 bits, the lowest byte first. */
function putLittle(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
  return at + 4;
}
