import type { SpanIds } from '../wire/otlp/shapes';

/** Drawing many at once costs a fraction of drawing each. */
const DRAWN_AT_ONCE = 1_024;

/** Ids of new spans: children, or the first of a trace. Filled from a random source that never repeats. */
export function createChildIds(
  randomFill: (numbers: Int32Array) => void,
): (parent: SpanIds | undefined) => SpanIds {
  const numbers = new Int32Array(DRAWN_AT_ONCE);
  let next = DRAWN_AT_ONCE;
  const draw = (): number => {
    if (next === DRAWN_AT_ONCE) {
      randomFill(numbers);
      next = 0;
    }
    return numbers[next++] as number;
  };
  // An id may not be all zeros (W3C Trace Context §3.2.2).
  const drawSome = () => draw() || 1;
  const newTrace = () => ({
    trace0: drawSome(),
    trace1: draw(),
    trace2: draw(),
    trace3: draw(),
    traceState: '',
  });
  return (parent) => {
    const { trace0, trace1, trace2, trace3, traceState } = parent ?? newTrace();
    const [span0, span1] = [drawSome(), draw()];
    return { trace0, trace1, trace2, trace3, span0, span1, traceState, isRemote: false };
  };
}
