import { SpanKind, TraceFlags, type SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { RandomIdGenerator, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { DecisionRequest } from '../core/model';
import type { Answer, CallKind, CallTrace } from '../core/ports';
import { attributesOf, errorOf } from './describe-call';
import { toSpan, type EndedSpan } from './to-span';

/** A call from its headers to its answer. */
export interface TracedCall extends CallTrace {
  readonly kind: CallKind;
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startMs: number;
}

/** Makes spans and hands them to who exports them. */
export interface SpanSink {
  /** Unix milliseconds with fraction. */
  readonly epochMs: () => number;
  /** A new span below another, or the first of a trace. */
  childOf(parent: SpanContext | undefined): SpanContext;
  record(span: EndedSpan): void;
  /** Ends a call. `request` is undefined when it made no sense, `storeSpan` when a link would say nothing. */
  endCall(
    call: TracedCall,
    answer: Answer,
    request: DecisionRequest | undefined,
    storeSpan: SpanContext | undefined,
  ): void;
}

export interface SpanSinkDeps {
  readonly resource: Resource;
  /** Takes spans that are over; never blocks, never throws. */
  readonly exportSpan: (span: ReadableSpan) => void;
  readonly epochMs: () => number;
}

export function createSpanSink({ resource, exportSpan, epochMs }: SpanSinkDeps): SpanSink {
  const ids = new RandomIdGenerator();
  const record = (span: EndedSpan): void => {
    exportSpan(toSpan(span, resource));
  };
  return {
    epochMs,
    record,
    childOf: (parent) => ({
      traceId: parent?.traceId ?? ids.generateTraceId(),
      spanId: ids.generateSpanId(),
      traceFlags: TraceFlags.SAMPLED,
      ...(parent?.traceState !== undefined && { traceState: parent.traceState }),
    }),
    endCall({ kind, context, parent, startMs }, answer, request, storeSpan) {
      record({
        name: kind.name,
        kind: SpanKind.SERVER,
        context,
        parent,
        startMs,
        endMs: epochMs(),
        attributes: attributesOf(kind, answer, request),
        links: storeSpan === undefined ? [] : [{ context: storeSpan }],
        error: errorOf(answer),
      });
    },
  };
}
