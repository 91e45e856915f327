import type { Http2Connection } from '../http2/api';
import type { Call } from './calls';

/** Pending output above which methods with many requests get no further message; gRPC-Go's write quota. */
export const MAX_PENDING_RESPONSE_BYTES = 65_536;

/** Calls with many requests whose next message waits until their responses have left. */
export class PacedCalls<M> {
  readonly #waiting = new Set<Call<M>>();
  readonly #http2: Http2Connection;

  constructor(http2: Http2Connection) {
    this.#http2 = http2;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Whether the call gets its next message now; if not, it waits. */
  mayEmit(call: Call<M>): boolean {
    if (this.#waiting.has(call)) return false;
    if (this.#http2.pendingOutputBytes <= MAX_PENDING_RESPONSE_BYTES) return true;
    this.#waiting.add(call);
    return false;
  }

  /** Its next message waits until the response that was just sent has left. */
  add(call: Call<M>): void {
    this.#waiting.add(call);
  }

  delete(call: Call<M>): void {
    this.#waiting.delete(call);
  }

  /** Resumes the calls whose responses have left, while the pending output allows it. */
  resume(readOn: (call: Call<M>) => void): void {
    if (this.#waiting.size === 0) return;
    // A copy: a call that has its next response waits again, for the next resume.
    for (const call of [...this.#waiting]) {
      if (this.#http2.pendingOutputBytes > MAX_PENDING_RESPONSE_BYTES) return;
      if (this.#http2.queuedBytes(call.stream) > 0) continue;
      this.#waiting.delete(call);
      readOn(call);
    }
  }
}
