import type { Http2Stream } from '../http2/api';

/**
 * Answers to requests that are no gRPC calls at all. They wait for the end of their request, as an HTTP server's do, so
 * that a malformed rest of it is still told as such (RFC 9113 §8.1.1).
 */
export interface Refusals<S> {
  add(stream: Http2Stream<S>, block: Uint8Array, deadlineMs: number): void;
  /** The request is complete: sends its answer. Does nothing for another stream. */
  complete(stream: Http2Stream<S>): void;
  /** The stream is gone. */
  forget(stream: Http2Stream<S>): void;
  /** Answers those that have waited long enough. */
  expire(nowMs: number): void;
  /** Infinity when none waits. */
  readonly nextDeadlineMs: number;
}

interface Refusal {
  readonly block: Uint8Array;
  readonly deadlineMs: number;
}

/** Deadlines must come in order: all requests are given the same time. */
export function createRefusals<S>(
  send: (stream: Http2Stream<S>, block: Uint8Array) => void,
): Refusals<S> {
  const waiting = new Map<Http2Stream<S>, Refusal>();
  const complete = (stream: Http2Stream<S>) => {
    const refusal = waiting.get(stream);
    if (refusal === undefined) return;
    waiting.delete(stream);
    send(stream, refusal.block);
  };
  return {
    add(stream, block, deadlineMs) {
      waiting.set(stream, { block, deadlineMs });
    },
    complete,
    forget(stream) {
      waiting.delete(stream);
    },
    expire(nowMs) {
      for (const [stream, { deadlineMs }] of waiting) {
        if (deadlineMs > nowMs) return;
        complete(stream);
      }
    },
    get nextDeadlineMs() {
      // Asked after every read; an iterator would be the dearest thing there.
      if (waiting.size === 0) return Infinity;
      return waiting.values().next().value?.deadlineMs ?? Infinity;
    },
  };
}
