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
