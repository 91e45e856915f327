import type { Http2Stream } from '../http2/api';

interface Refusal {
  readonly block: Uint8Array;
  readonly deadlineMs: number;
}

/**
 * Answers to requests that are no gRPC calls at all. They wait for the end of their request, as an HTTP server's do, so
 * that a malformed rest of it is still told as such (RFC 9113 §8.1.1).
 * Deadlines must come in order: all requests are given the same time.
 */
export class Refusals<S> {
  readonly #waiting = new Map<Http2Stream<S>, Refusal>();
  readonly #send: (stream: Http2Stream<S>, block: Uint8Array) => void;

  constructor(send: (stream: Http2Stream<S>, block: Uint8Array) => void) {
    this.#send = send;
  }

  add(stream: Http2Stream<S>, block: Uint8Array, deadlineMs: number): void {
    this.#waiting.set(stream, { block, deadlineMs });
  }

  /** The request is complete: sends its answer. Does nothing for another stream. */
  complete(stream: Http2Stream<S>): void {
    const refusal = this.#waiting.get(stream);
    if (refusal === undefined) return;
    this.#waiting.delete(stream);
    this.#send(stream, refusal.block);
  }

  /** The stream is gone. */
  forget(stream: Http2Stream<S>): void {
    this.#waiting.delete(stream);
  }

  /** Answers those that have waited long enough. */
  expire(nowMs: number): void {
    for (const [stream, { deadlineMs }] of this.#waiting) {
      if (deadlineMs > nowMs) return;
      this.complete(stream);
    }
  }

  /** Infinity when none waits. */
  get nextDeadlineMs(): number {
    // Asked after every read; an iterator would be the dearest thing there.
    if (this.#waiting.size === 0) return Infinity;
    return this.#waiting.values().next().value?.deadlineMs ?? Infinity;
  }
}
