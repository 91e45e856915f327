import { ROOT_CONTEXT, trace, type TextMapGetter } from '@opentelemetry/api';
import { parseTraceParent, TraceState } from '@opentelemetry/core';
import { B3Propagator } from '@opentelemetry/propagator-b3';
import type { CallHeaders } from '../core/ports';
import { toSpanIds, type SpanIds } from '../wire/otlp/shapes';
import { hasB3 } from './is-sampled';

const b3 = new B3Propagator();

/** All header fields about a call's trace. */
export const HEADER_NAMES: readonly string[] = [
  'traceparent',
  'tracestate',
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-flags',
];

/** Lists may come in several fields. */
function valueOf({ names, values }: CallHeaders, wanted: string): string | undefined {
  const first = names.indexOf(wanted);
  if (first < 0 || !names.includes(wanted, first + 1)) return values[first];
  return values.filter((_, i) => names[i] === wanted).join(',');
}

const getter: TextMapGetter<CallHeaders> = {
  keys: ({ names }) => [...names],
  get: valueOf,
};

/** The caller's span, from W3C `traceparent` or else B3 (one header or several); undefined when there is none. */
export function parentOf(headers: CallHeaders): SpanIds | undefined {
  return ofW3c(headers) ?? (hasB3(headers.names) ? ofB3(headers) : undefined);
}

function ofW3c(headers: CallHeaders): SpanIds | undefined {
  const { names, values } = headers;
  const at = names.indexOf('traceparent');
  // Two of them count as none (W3C Trace Context §3.2).
  if (at < 0 || names.includes('traceparent', at + 1)) return undefined;
  const parent = parseTraceParent(values[at] as string);
  if (parent === null) return undefined;
  const state = valueOf(headers, 'tracestate') ?? '';
  return toSpanIds(
    parent.traceId,
    parent.spanId,
    state === '' ? '' : new TraceState(state).serialize(),
  );
}

function ofB3(headers: CallHeaders): SpanIds | undefined {
  const parent = trace.getSpanContext(b3.extract(ROOT_CONTEXT, headers, getter));
  return parent === undefined ? undefined : toSpanIds(parent.traceId, parent.spanId, '');
}
