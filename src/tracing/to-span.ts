import { SpanStatusCode, type Attributes, type HrTime, type Link } from '@opentelemetry/api';
import type { SpanContext, SpanKind } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** What is known of a span once it is over. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  /** Unix milliseconds with fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly links?: Link[];
  readonly droppedLinks?: number;
  /** What went wrong; undefined when nothing did. */
  readonly error?: string | undefined;
}

const SCOPE = { name: 'weir' };

/**
 * A span in the form in which exporters take them. Made when it is over, in one piece: that costs a fraction of a
 * span of the library's tracer, which is written to while it lives.
 */
export function toSpan(span: EndedSpan, resource: Resource): ReadableSpan {
  const { context, parent, error, links = [], droppedLinks = 0 } = span;
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => context,
    ...(parent !== undefined && { parentSpanContext: parent }),
    startTime: toHrTime(span.startMs),
    endTime: toHrTime(span.endMs),
    duration: toHrTime(span.endMs - span.startMs),
    status:
      error === undefined
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: error },
    attributes: span.attributes,
    links,
    events: [],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: droppedLinks,
  };
}

function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
