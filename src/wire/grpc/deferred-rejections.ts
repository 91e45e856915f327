import type { Http2Stream } from '../http2/api';

interface Rejection {
  readonly block: Uint8Array;
  readonly deadlineMs: number;
}

/**
 * Responses to requests that are not gRPC calls at all. They wait for the end of their request, as an HTTP server's do, so
 * that a malformed rest of it is still reported (RFC 9113 §8.1.1).
 * Add them in the order of their deadlines: all requests have the same time.
 */
export class DeferredRejections {
  readonly #waiting = new Map<Http2Stream, Rejection>();
  readonly #send: (stream: Http2Stream, block: Uint8Array) => void;

  constructor(send: (stream: Http2Stream, block: Uint8Array) => void) {
    this.#send = send;
  }

  add(stream: Http2Stream, block: Uint8Array, deadlineMs: number): void {
    this.#waiting.set(stream, { block, deadlineMs });
  }

  /** The request is complete: sends its response. No effect for another stream. */
  complete(stream: Http2Stream): void {
    const rejection = this.#waiting.get(stream);
    if (rejection === undefined) return;
    this.#waiting.delete(stream);
    this.#send(stream, rejection.block);
  }

  forget(stream: Http2Stream): void {
    this.#waiting.delete(stream);
  }

  /** Sends those whose time is over. */
  expire(nowMs: number): void {
    for (const [stream, { deadlineMs }] of this.#waiting) {
      if (deadlineMs > nowMs) return;
      this.complete(stream);
    }
  }

  /** Infinity if none waits. */
  get nextDeadlineMs(): number {
    // Runs after every read, where an iterator would be the largest cost.
    if (this.#waiting.size === 0) return Infinity;
    return this.#waiting.values().next().value?.deadlineMs ?? Infinity;
  }
}
