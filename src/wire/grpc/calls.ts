import type { Http2Stream, Http2Connection } from '../http2/api';
import type { Body } from './body';
import type { AcceptedCall } from './call-plan';

export interface Call<M> {
  readonly stream: Http2Stream;
  readonly plan: AcceptedCall<M>;
  /** Its index in the table, by which the owner names it. */
  readonly id: number;
  deadlineMs: number;
  /**
   * `reading`: the owner has had no event. `asked`: it has. `answering`: the headers of the response were sent. `over`: answered,
   * rejected or cancelled; later input is dropped.
   */
  phase: 'reading' | 'asked' | 'answering' | 'over';
  body: Body | undefined;
  /** The request is complete, though messages of it may not be emitted yet. */
  ended: boolean;
  /** What the owner created from the headers (`CreateCallContext`). */
  context: unknown;
}

/** Time for a request to arrive, whatever its `grpc-timeout` (slow bodies). */
export const MAX_REQUEST_MS = 60_000;

const NONE: readonly never[] = [];

/**
 * The calls of one connection by id: an array with a free list, which is cheaper than a map. An id is reused only after
 * `remove`.
 */
export class Calls<M> {
  /** Not later than the earliest deadline of the calls; Infinity if none has one. */
  nextDeadlineMs = Infinity;
  readonly #slots: (Call<M> | undefined)[] = [];
  readonly #free: number[] = [];

  add(stream: Http2Stream, plan: AcceptedCall<M>, deadlineMs: number): Call<M> {
    const id = this.#free.pop() ?? this.#slots.length;
    const call: Call<M> = {
      stream,
      plan,
      id,
      deadlineMs,
      phase: 'reading',
      body: undefined,
      ended: false,
      context: undefined,
    };
    this.#slots[id] = call;
    if (deadlineMs < this.nextDeadlineMs) this.nextDeadlineMs = deadlineMs;
    return call;
  }

  /** The call, which keeps its id; undefined if the id is free. */
  get(id: number): Call<M> | undefined {
    return this.#slots[id];
  }

  /** Removes the call and frees its id; undefined if the id is free. */
  remove(id: number): Call<M> | undefined {
    const call = this.#slots[id];
    if (call === undefined) return undefined;
    this.#slots[id] = undefined;
    this.#free.push(id);
    return call;
  }

  /** The calls that are not over and whose deadline has passed. Costs nothing before the first deadline. */
  takeExpired(nowMs: number): readonly Call<M>[] {
    if (nowMs < this.nextDeadlineMs) return NONE;
    const expired: Call<M>[] = [];
    this.nextDeadlineMs = Infinity;
    for (const call of this.#slots) {
      if (call === undefined || call.phase === 'over') continue;
      if (call.deadlineMs <= nowMs) expired.push(call);
      else this.nextDeadlineMs = Math.min(this.nextDeadlineMs, call.deadlineMs);
    }
    return expired;
  }

  get size(): number {
    return this.#slots.length - this.#free.length;
  }
}

/** Replaces the deadline of the request, which is now complete enough for an event, by the call's own. */
export function beforeFirstEvent<M>(call: Call<M>): void {
  if (call.phase !== 'reading') return;
  call.phase = 'asked';
  const { timeoutMs } = call.plan;
  if (timeoutMs > MAX_REQUEST_MS) call.deadlineMs += timeoutMs - MAX_REQUEST_MS;
}

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
