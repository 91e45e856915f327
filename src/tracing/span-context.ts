import type { SpanIds } from '../wire/otlp/shapes';
import { parentOf } from './parent';
import type { SpanContext, TracedCall } from './span-records';

/** Draws the ids of a child span, or of the first span of a trace. */
export type ChildOf = (parent: SpanIds | undefined) => SpanIds;

/** The ids of a call's span; drawn on first use. */
export function contextOf(call: TracedCall, childOf: ChildOf): SpanContext {
  if (call.context === undefined) {
    const parent = parentOf(call.headers);
    call.context = { ids: childOf(parent), parent };
  }
  return call.context;
}

/** 32 hexadecimal digits. */
export function traceIdOf({ trace0, trace1, trace2, trace3 }: SpanIds): string {
  return [trace0, trace1, trace2, trace3]
    .map((piece) => (piece >>> 0).toString(16).padStart(8, '0'))
    .join('');
}
