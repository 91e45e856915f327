import { ROOT_CONTEXT, trace, type SpanContext, type TextMapGetter } from '@opentelemetry/api';
import { CompositePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { B3Propagator } from '@opentelemetry/propagator-b3';
import type { CallHeaders } from '../core/ports';

/** The last one that finds something wins. */
const propagator = new CompositePropagator({
  propagators: [new B3Propagator(), new W3CTraceContextPropagator()],
});

const getter: TextMapGetter<CallHeaders> = {
  keys: ({ names }) => [...names],
  get({ names, values }, wanted) {
    const found = values.filter((_, i) => names[i] === wanted);
    if (wanted === 'tracestate') return found.length === 0 ? undefined : found.join(',');
    return found.length > 1 && wanted === 'traceparent' ? undefined : found[0];
  },
};

/** The caller's span, from W3C `traceparent` or B3 (one header or several); undefined when there is none. */
export function parentOf(headers: CallHeaders): SpanContext | undefined {
  return trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, getter));
}
