import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { OtlpSpanKind, SpanIds } from '../../src/wire/otlp/shapes';

/** A span as our writer is told of it. */
export interface ToldSpan {
  readonly name: string;
  readonly kind: OtlpSpanKind;
  readonly ids: SpanIds;
  readonly parent: SpanIds | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly fixed: Readonly<Record<string, string>>;
  readonly attributes: readonly (readonly [string, string | number])[];
  readonly links: readonly SpanIds[];
  readonly droppedLinks: number;
  readonly error: string | undefined;
}

const KINDS = { 1: SpanKind.INTERNAL, 2: SpanKind.SERVER, 3: SpanKind.CLIENT } as const;

type ReadableSpan = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];
type Context = ReturnType<ReadableSpan['spanContext']>;

/** What OpenTelemetry's own serializer makes of the same spans. */
export function encodeByLibrary(
  spans: readonly ToldSpan[],
  resourceAttributes: Readonly<Record<string, string>>,
  scope: string,
): Uint8Array {
  const resource = {
    attributes: resourceAttributes,
    merge: () => resource,
    getRawAttributes: () => [],
  };
  const instrumentationScope = { name: scope };
  const readable = spans.map((span): ReadableSpan => {
    const { parent, attributes, fixed } = span;
    return {
      name: span.name,
      kind: KINDS[span.kind],
      spanContext: () => toContext(span.ids),
      ...(parent !== undefined && { parentSpanContext: toContext(parent) }),
      startTime: toHrTime(span.startMs),
      endTime: toHrTime(span.endMs),
      duration: [0, 0],
      status:
        span.error === undefined
          ? { code: SpanStatusCode.UNSET }
          : { code: SpanStatusCode.ERROR, message: span.error },
      attributes: { ...fixed, ...Object.fromEntries(attributes) },
      links: span.links.map((ids) => ({ context: toContext(ids) })),
      events: [],
      ended: true,
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: span.droppedLinks,
    };
  });
  const bytes = ProtobufTraceSerializer.serializeRequest(readable);
  if (bytes === undefined) throw new Error('the library encoded nothing');
  return bytes;
}

function toContext(ids: SpanIds): Context {
  const { traceState } = ids;
  return {
    traceId: hex(ids.trace0, ids.trace1, ids.trace2, ids.trace3),
    spanId: hex(ids.span0, ids.span1),
    traceFlags: 1,
    isRemote: ids.isRemote,
    ...(traceState !== '' && { traceState: { serialize: () => traceState } as never }),
  };
}

export function hex(...words: readonly number[]): string {
  return words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function toHrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
