import { closeMessage, roomForText, writeText } from '../protobuf/write';

/*
 * Encodes repeated parts once: an attribute's key, the common fields of the spans of one kind, and what precedes
 * the spans of an export. Field numbers are those of the OpenTelemetry messages (trace/v1, common/v1).
 */

/** Span.SpanKind. */
export const OtlpSpanKind = { internal: 1, server: 2, client: 3 } as const;

export type OtlpSpanKind = (typeof OtlpSpanKind)[keyof typeof OtlpSpanKind];

/** KeyValue.key with its tag and length; the value follows it. */
export function attributeKey(name: string): Uint8Array {
  const bytes = new Uint8Array(roomForText(name));
  return bytes.slice(0, writeText(bytes, 0, 0x0a, name));
}

/** The fields that all spans of one kind share: name, kind, attributes. */
export function spanShape(
  name: string,
  kind: OtlpSpanKind,
  attributes: Readonly<Record<string, string>>,
): Uint8Array {
  const bytes = new Uint8Array(roomForText(name) + 2 + roomForAttributes(attributes));
  let at = writeText(bytes, 0, 0x2a, name);
  bytes[at++] = 0x30;
  bytes[at++] = kind;
  return bytes.slice(0, writeAttributes(bytes, at, 0x4a, attributes));
}

/** The fields `resource` of ResourceSpans and `scope` of ScopeSpans. */
export interface SpansOrigin {
  readonly resource: Uint8Array;
  readonly scope: Uint8Array;
}

/** Encodes the origin of spans: the attributes of this instance and the name of the instrumentation. */
export function spansOrigin(
  attributes: Readonly<Record<string, string>>,
  scopeName: string,
): SpansOrigin {
  const resource = new Uint8Array(10 + roomForAttributes(attributes));
  resource[0] = 0x0a;
  const resourceEnd = closeMessage(resource, 2, writeAttributes(resource, 2, 0x0a, attributes));
  const scope = new Uint8Array(10 + roomForText(scopeName));
  scope[0] = 0x0a;
  const scopeEnd = closeMessage(scope, 2, writeText(scope, 2, 0x0a, scopeName));
  return { resource: resource.slice(0, resourceEnd), scope: scope.slice(0, scopeEnd) };
}

/** Tags and lengths of an attribute and its value. */
const ROOM_PER_ATTRIBUTE = 20;

function roomForAttributes(attributes: Readonly<Record<string, string>>): number {
  return Object.entries(attributes).reduce(
    (room, [name, value]) => room + ROOM_PER_ATTRIBUTE + roomForText(name) + roomForText(value),
    0,
  );
}

function writeAttributes(
  bytes: Uint8Array,
  at: number,
  tag: number,
  attributes: Readonly<Record<string, string>>,
): number {
  let to = at;
  for (const [name, value] of Object.entries(attributes)) {
    bytes[to] = tag;
    const start = to + 2;
    const valueAt = writeText(bytes, start, 0x0a, name);
    bytes[valueAt] = 0x12;
    const valueEnd = writeText(bytes, valueAt + 2, 0x0a, value);
    to = closeMessage(bytes, start, closeMessage(bytes, valueAt + 2, valueEnd));
  }
  return to;
}

/** Identifies a span by the 32 bit pieces of its ids, the first the most significant, as signed numbers. */
export interface SpanIds {
  readonly trace0: number;
  readonly trace1: number;
  readonly trace2: number;
  readonly trace3: number;
  readonly span0: number;
  readonly span1: number;
  /** W3C `tracestate`; empty: none. */
  readonly traceState: string;
  /** The span belongs to another process, the client. */
  readonly isRemote: boolean;
}

/** From 32 and 16 hexadecimal digits. */
export function toSpanIds(traceId: string, spanId: string, traceState: string): SpanIds {
  return {
    trace0: int32(traceId, 0),
    trace1: int32(traceId, 8),
    trace2: int32(traceId, 16),
    trace3: int32(traceId, 24),
    span0: int32(spanId, 0),
    span1: int32(spanId, 8),
    traceState,
    isRemote: true,
  };
}

function int32(digits: string, at: number): number {
  return Number.parseInt(digits.slice(at, at + 8), 16) | 0;
}
