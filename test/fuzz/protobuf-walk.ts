/**
 * The grammar of a RateLimitRequest in protobuf, read slowly: whether octets are one at all, and whether every known
 * field has its declared wire type and no message is to be merged (libraries differ on the rest).
 */
export interface Walk {
  readonly isValid: boolean;
  readonly isStrict: boolean;
}

interface Schema {
  readonly [field: number]: 'varint' | 'text' | Schema;
}

const ENTRY: Schema = { 1: 'text', 2: 'text' };
const LIMIT: Schema = { 1: 'varint', 2: 'varint' };
const DESCRIPTOR: Schema = { 1: ENTRY, 2: LIMIT, 3: { 1: 'varint' }, 4: 'varint' };
/** Messages that may come again; another one that does is merged, which protobufjs does not do. */
const REPEATED: ReadonlySet<unknown> = new Set([ENTRY, DESCRIPTOR]);
const REQUEST: Schema = { 1: 'text', 2: DESCRIPTOR, 3: 'varint' };

class Malformed extends Error {}

const wireTypeOf = (kind: Schema[number]) => (kind === 'varint' ? 0 : 2);
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const DEEPEST_GROUP = 100;

export function walkRequest(bytes: Buffer): Walk {
  let isStrict = true;
  let at = 0;

  const varint = (end: number) => {
    let value = 0n;
    for (let index = 0n; index < 10n; index++) {
      if (at >= end) throw new Malformed();
      const octet = bytes[at++] ?? 0;
      value |= BigInt(octet & 0x7f) << (7n * index);
      if (octet >= 0x80) continue;
      if (value >= 2n ** 64n) break;
      return value;
    }
    throw new Malformed();
  };
  const skip = (count: number, end: number) => {
    if (count > end - at) throw new Malformed();
    at += count;
    return at;
  };
  const tag = (end: number) => {
    const value = varint(end);
    if (value < 8n || value > 0xffff_ffffn) throw new Malformed();
    return { field: Number(value >> 3n), type: Number(value & 7n) };
  };
  const lengthDelimited = (end: number) => {
    const length = Number(varint(end));
    const start = at;
    return { start, end: skip(length, end) };
  };
  const group = (field: number, end: number, depth: number) => {
    if (depth > DEEPEST_GROUP) throw new Malformed();
    for (;;) {
      const next = tag(end);
      if (next.type === 4 && next.field === field) return;
      unknown(next.field, next.type, end, depth + 1);
    }
  };
  const unknown = (field: number, type: number, end: number, depth: number): void => {
    if (type === 0) varint(end);
    else if (type === 1) skip(8, end);
    else if (type === 2) lengthDelimited(end);
    else if (type === 3) group(field, end, depth);
    else if (type === 5) skip(4, end);
    else throw new Malformed();
  };
  const text = (start: number, end: number) => {
    try {
      UTF8.decode(bytes.subarray(start, end));
    } catch {
      throw new Malformed();
    }
  };
  const known = (kind: 'text' | Schema, end: number) => {
    const inner = lengthDelimited(end);
    if (kind === 'text') {
      text(inner.start, inner.end);
      return;
    }
    at = inner.start;
    message(kind, inner.end);
  };
  const message = (schema: Schema, end: number) => {
    const seen = new Set<unknown>();
    while (at < end) {
      const { field, type } = tag(end);
      const kind = schema[field];
      if (typeof kind === 'object' && seen.has(kind) && !REPEATED.has(kind)) isStrict = false;
      seen.add(kind);
      if (kind === undefined || wireTypeOf(kind) !== type) {
        if (kind !== undefined || type === 3) isStrict = false;
        unknown(field, type, end, 1);
      } else if (kind === 'varint') varint(end);
      else known(kind, end);
    }
  };

  try {
    message(REQUEST, bytes.length);
    return { isValid: true, isStrict };
  } catch (error) {
    if (error instanceof Malformed) return { isValid: false, isStrict: false };
    throw error;
  }
}
