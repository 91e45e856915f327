import { encodeHuffman } from '../../src/wire/http2/hpack/encoder';
import { STATIC_TABLE } from '../../src/wire/http2/hpack/static-table';

/** Writes the header block of the next call at `at` and answers where it ends. */
export type WriteHeaders = (out: Uint8Array, at: number) => number;

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const HEX = '0123456789abcdef';
const TABLE_BYTES = 4096;
const FIELD_OVERHEAD = 32;
/** More than the table holds. */
const MAX_FIELDS = 128;
/** Prime to one another, so that no pair of traceparent and request id comes again for 66 million calls. */
const TRACES = 8_191;
const REQUEST_IDS = 8_179;
const TRACE_LENGTH = 55;
const REQUEST_ID_LENGTH = 36;
/** A string in a line of its own of a processor's cache: most are not in a near one when their turn comes. */
const ROW_BYTES = 64;

interface IndexedField {
  /** Which of the fields of a connection it is. */
  readonly place: number;
  /** Name and value as a literal with incremental indexing (RFC 7541 §6.2.1). */
  readonly literal: Uint8Array;
  readonly bytes: number;
}

/** `:method`, `:scheme` and `:path`. */
const START = Uint8Array.from([0x83, 0x86, 0x04, ...text(PATH)]);
/** What a proxy sends with every call, in Envoy's order; all of it goes to the dynamic table. */
const FIXED = [
  indexed(0, ':authority', 'ratelimit'),
  indexed(1, 'te', 'trailers'),
  indexed(2, 'grpc-timeout', '10000m'),
  indexed(3, 'content-type', 'application/grpc'),
  indexed(4, 'x-envoy-internal', 'true'),
  indexed(5, 'x-forwarded-for', '10.0.0.7'),
];
const TRACEPARENT = withoutValue(indexed(6, 'traceparent', ''), TRACE_LENGTH);
const REQUEST_ID = withoutValue(indexed(7, 'x-request-id', ''), REQUEST_ID_LENGTH);
const FIELDS = FIXED.length + 2;

/** Values that differ in every call, Huffman coded, in rows; made once for all connections, because that takes a while. */
export interface VariedValues {
  readonly traces: Uint8Array;
  readonly requestIds: Uint8Array;
}

/** One trace of `sampledEvery` is said to be traced. */
export function createVariedValues(sampledEvery = 1): VariedValues {
  return {
    traces: rowsOf(TRACES, (i) => aTrace(i % sampledEvery === 0)),
    requestIds: rowsOf(REQUEST_IDS, aRequestId),
  };
}

/**
 * Header blocks as nghttp2 in Envoy makes them for one connection; with `varied` traceparent and x-request-id differ in
 * every call.
 */
export function createHeaderWriter(varied: VariedValues | undefined): WriteHeaders {
  /** By place: the last insertion of a field of that name; -1 before the first. */
  const insertedAt = new Int32Array(FIELDS).fill(-1);
  const sizes = new Uint8Array(MAX_FIELDS);
  let inserted = 0;
  let oldest = 0;
  let tableBytes = 0;
  // Connections begin at different places, so that they do not say the same.
  let call = Math.floor(Math.random() * TRACES);

  const insert = (place: number, bytes: number) => {
    tableBytes += bytes;
    sizes[inserted % MAX_FIELDS] = bytes;
    insertedAt[place] = inserted;
    inserted += 1;
    while (tableBytes > TABLE_BYTES) {
      tableBytes -= sizes[oldest % MAX_FIELDS] as number;
      oldest += 1;
    }
  };
  const putField = (out: Uint8Array, at: number, { place, literal, bytes }: IndexedField) => {
    const known = insertedAt[place] as number;
    if (known >= oldest) {
      // The newest field has index 62; indices below 127 take one octet.
      out[at] = 0x80 | (61 + inserted - known);
      return at + 1;
    }
    insert(place, bytes);
    return put(out, at, literal, 0, literal.length);
  };
  /** The name by its index where the table still holds it: from the last field of that name. */
  const putVaried = (
    out: Uint8Array,
    at: number,
    { place, literal, bytes }: IndexedField,
    rows: Uint8Array,
    row: number,
  ) => {
    const known = insertedAt[place] as number;
    const to =
      known >= oldest
        ? putInteger(out, at, 61 + inserted - known)
        : put(out, at, literal, 0, literal.length);
    insert(place, bytes);
    const start = row * ROW_BYTES;
    return put(out, to, rows, start, start + 1 + ((rows[start] as number) & 0x7f));
  };

  return (out, at) => {
    let to = put(out, at, START, 0, START.length);
    for (const field of FIXED) to = putField(out, to, field);
    if (varied === undefined) return to;
    call += 1;
    to = putVaried(out, to, TRACEPARENT, varied.traces, call % TRACES);
    return putVaried(out, to, REQUEST_ID, varied.requestIds, call % REQUEST_IDS);
  };
}

function put(out: Uint8Array, at: number, octets: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) out[at++] = octets[i] as number;
  return at;
}

/** A 6 bit prefix behind `01` (RFC 7541 §5.1). */
function putInteger(out: Uint8Array, at: number, index: number): number {
  if (index < 63) {
    out[at] = 0x40 | index;
    return at + 1;
  }
  out[at] = 0x7f;
  out[at + 1] = index - 63;
  return at + 2;
}

function indexed(place: number, name: string, value: string): IndexedField {
  const known = STATIC_TABLE.findIndex((field) => field.name === name) + 1;
  const literal = known > 0 ? [0x40 | known] : [0x40, ...text(name)];
  return {
    place,
    literal: Uint8Array.from([...literal, ...text(value)]),
    bytes: FIELD_OVERHEAD + name.length + value.length,
  };
}

/** The same, to be followed by any value of so many octets. */
function withoutValue({ place, literal, bytes }: IndexedField, length: number): IndexedField {
  return { place, literal: literal.subarray(0, -1), bytes: bytes + length };
}

/** A Huffman coded string literal of fewer than 127 octets. */
function text(value: string): number[] {
  const coded = encodeHuffman(Buffer.from(value, 'latin1'));
  return [0x80 | coded.length, ...coded];
}

function hex(digits: number): string {
  return Array.from({ length: digits }, () => HEX[Math.floor(Math.random() * 16)]).join('');
}

function aTrace(isSampled: boolean): number[] {
  return text(`00-${hex(32)}-${hex(16)}-${isSampled ? '01' : '00'}`);
}

function aRequestId(): number[] {
  return text(`${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`);
}

function rowsOf(count: number, make: (i: number) => readonly number[]): Uint8Array {
  const rows = new Uint8Array(count * ROW_BYTES);
  for (let i = 0; i < count; i++) rows.set(make(i), i * ROW_BYTES);
  return rows;
}
