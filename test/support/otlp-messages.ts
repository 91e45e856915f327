import { parse } from 'protobufjs';

/** The part of OTLP's traces that the tests look at; numbers of fields as the protocol gives them. */
const { root } = parse(`
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Scope { string name = 1; string version = 2; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
}
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; fixed32 flags = 6; }
message Status { string message = 2; int32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; uint32 dropped_attributes_count = 10; repeated Link links = 13;
  uint32 dropped_links_count = 14; Status status = 15; fixed32 flags = 16;
}
`);
const Request = root.lookupType('ExportTraceServiceRequest');

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** `trace/span` of each. */
  readonly links: readonly string[];
  readonly droppedLinks: number;
  /** 2 is an error. */
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly resource: Readonly<Record<string, string | number | boolean>>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly droppedLinksCount: number;
  readonly status?: { readonly code: number; readonly message: string };
}

interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

function decode(bytes: Uint8Array): WireRequest {
  return Request.toObject(Request.decode(bytes), {
    longs: String,
    bytes: String,
    defaults: true,
    oneofs: false,
  }) as WireRequest;
}

/**
 * All that an export says: attributes in the order of their keys, and no status where it is the one of spans without.
 */
export function decodeRequest(bytes: Uint8Array): unknown {
  return decode(bytes).resourceSpans.map(({ resource, scopeSpans, ...more }) => ({
    ...more,
    resource: inOrder(resource.attributes),
    scopeSpans: scopeSpans.map(({ spans, ...rest }) => ({
      ...rest,
      spans: spans.map(({ attributes, status, ...others }) => ({
        ...others,
        attributes: inOrder(attributes),
        status: status ?? { code: 0, message: '' },
      })),
    })),
  }));
}

function inOrder(attributes: readonly Attribute[]): readonly Attribute[] {
  return attributes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** The spans of an export in protobuf; throws when it is none. */
export function decodeSpans(bytes: Uint8Array): readonly ReceivedSpan[] {
  const { resourceSpans } = decode(bytes);
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => toReceived(span, resource.attributes))),
  );
}

function toReceived(span: WireSpan, resource: readonly Attribute[]): ReceivedSpan {
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    traceState: span.traceState,
    name: span.name,
    kind: span.kind,
    startNanos: BigInt(span.startTimeUnixNano),
    endNanos: BigInt(span.endTimeUnixNano),
    attributes: toRecord(span.attributes),
    links: span.links.map(({ traceId, spanId }) => `${hex(traceId)}/${hex(spanId)}`),
    droppedLinks: span.droppedLinksCount,
    statusCode: span.status?.code ?? 0,
    statusMessage: span.status?.message ?? '',
    resource: toRecord(resource),
  };
}

function hex(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function toRecord(attributes: readonly Attribute[]) {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [kind, content = ''] = Object.entries(value)[0] ?? [];
      return [key, kind === 'intValue' ? Number(content) : content];
    }),
  );
}
