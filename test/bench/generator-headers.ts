import { encodeHuffman } from '../../src/wire/http2/hpack/huffman-encode';
import { STATIC_TABLE } from '../../src/wire/http2/hpack/static-table';

/** Writes the header block of the next call at `at` and answers where it ends. */
export type WriteHeaders = (out: Uint8Array, at: number) => number;

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
/** What a proxy sends with every call, in Envoy's order; all but the path goes to the dynamic table. */
const FIXED = [
  [':authority', 'ratelimit'],
  ['te', 'trailers'],
  ['grpc-timeout', '10000m'],
  ['content-type', 'application/grpc'],
  ['x-envoy-internal', 'true'],
  ['x-forwarded-for', '10.0.0.7'],
] as const;
const HEX = '0123456789abcdef';
const TABLE_BYTES = 4096;
const FIELD_OVERHEAD = 32;
/** Prime to one another, so that no pair of traceparent and request id comes again for 66 million calls. */
const TRACES = 8_191;
const REQUEST_IDS = 8_179;

interface IndexedField {
  /** Name and value as a literal with incremental indexing (RFC 7541 §6.2.1). */
  readonly literal: Uint8Array;
  readonly bytes: number;
  /** Its place in the order of insertions; -1 before the first. */
  insertedAt: number;
}

/** Values that differ in every call, Huffman coded; made once for all connections, because that takes a while. */
export interface VariedValues {
  readonly traces: readonly Uint8Array[];
  readonly requestIds: readonly Uint8Array[];
}

/** One trace of `sampledEvery` is said to be traced. */
export function createVariedValues(sampledEvery = 1): VariedValues {
  return {
    traces: Array.from({ length: TRACES }, (_, i) => aTrace(i % sampledEvery === 0)),
    requestIds: Array.from({ length: REQUEST_IDS }, aRequestId),
  };
}

/**
 * Header blocks as nghttp2 in Envoy makes them for one connection; with `varied` traceparent and x-request-id differ in
 * every call.
 */
export function createHeaderWriter(varied: VariedValues | undefined): WriteHeaders {
  const path = Uint8Array.from([0x04, ...text(PATH)]);
  const fixed = FIXED.map(([name, value]) => indexed(name, value));
  const names = [indexed('traceparent', ''), indexed('x-request-id', '')] as const;
  const sizes: number[] = [];
  let inserted = 0;
  let oldest = 0;
  let tableBytes = 0;
  // Connections begin at different places, so that they do not say the same.
  let call = Math.floor(Math.random() * TRACES);

  const insert = (bytes: number) => {
    tableBytes += bytes;
    sizes[inserted & 127] = bytes;
    inserted += 1;
    while (tableBytes > TABLE_BYTES) {
      tableBytes -= sizes[oldest & 127] as number;
      oldest += 1;
    }
  };
  const put = (out: Uint8Array, at: number, octets: Uint8Array) => {
    for (let i = 0; i < octets.length; i++) out[at + i] = octets[i] as number;
    return at + octets.length;
  };
  const putField = (out: Uint8Array, at: number, field: IndexedField) => {
    if (field.insertedAt >= oldest) {
      // The newest field has index 62; indices below 127 take one octet.
      out[at] = 0x80 | (61 + inserted - field.insertedAt);
      return at + 1;
    }
    field.insertedAt = inserted;
    insert(field.bytes);
    return put(out, at, field.literal);
  };
  /** The name by its index where the table still holds it: from the last field of that name. */
  const putVaried = (out: Uint8Array, at: number, name: IndexedField, value: Uint8Array) => {
    let to: number;
    if (name.insertedAt >= oldest) to = putInteger(out, at, 61 + inserted - name.insertedAt);
    else to = put(out, at, name.literal.subarray(0, -1));
    name.insertedAt = inserted;
    insert(name.bytes + (name === names[0] ? 55 : 36));
    return put(out, to, value);
  };

  return (out, at) => {
    out[at] = 0x83;
    out[at + 1] = 0x86;
    let to = put(out, at + 2, path);
    for (const field of fixed) to = putField(out, to, field);
    if (varied === undefined) return to;
    call += 1;
    to = putVaried(out, to, names[0], varied.traces[call % TRACES] as Uint8Array);
    return putVaried(out, to, names[1], varied.requestIds[call % REQUEST_IDS] as Uint8Array);
  };
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

function indexed(name: string, value: string): IndexedField {
  const known = STATIC_TABLE.findIndex((field) => field.name === name) + 1;
  const literal = known > 0 ? [0x40 | known] : [0x40, ...text(name)];
  return {
    literal: Uint8Array.from([...literal, ...text(value)]),
    bytes: FIELD_OVERHEAD + name.length + value.length,
    insertedAt: -1,
  };
}

/** A Huffman coded string literal of fewer than 127 octets. */
function text(value: string): number[] {
  const coded = encodeHuffman(Buffer.from(value, 'latin1'));
  return [0x80 | coded.length, ...coded];
}

function hex(digits: number): string {
  return Array.from({ length: digits }, () => HEX[Math.floor(Math.random() * 16)]).join('');
}

function aTrace(isSampled: boolean): Uint8Array {
  return Uint8Array.from(text(`00-${hex(32)}-${hex(16)}-${isSampled ? '01' : '00'}`));
}

function aRequestId(): Uint8Array {
  return Uint8Array.from(text(`${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`));
}
