import { ROOT_CONTEXT, trace, type SpanContext, type TextMapGetter } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { B3Propagator } from '@opentelemetry/propagator-b3';
import type { CallHeaders } from '../core/ports';

const w3c = new W3CTraceContextPropagator();
const b3 = new B3Propagator();

/** All header fields that say something of a call's trace. */
export const HEADER_NAMES: readonly string[] = [
  ...w3c.fields(),
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-flags',
];

const getter: TextMapGetter<CallHeaders> = {
  keys: ({ names }) => [...names],
  get({ names, values }, wanted) {
    const first = names.indexOf(wanted);
    if (first < 0 || !names.includes(wanted, first + 1)) return values[first];
    // Lists may come in several fields; of two `traceparent` none counts (W3C Trace Context §3.2).
    const all = values.filter((_, i) => names[i] === wanted);
    return wanted === 'traceparent' ? undefined : all.join(',');
  },
};

/** The caller's span, from W3C `traceparent` or else B3 (one header or several); undefined when there is none. */
export function parentOf(headers: CallHeaders): SpanContext | undefined {
  return (
    trace.getSpanContext(w3c.extract(ROOT_CONTEXT, headers, getter)) ??
    trace.getSpanContext(b3.extract(ROOT_CONTEXT, headers, getter))
  );
}
