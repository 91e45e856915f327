import type { Http2Stream } from '../http2/api';
import type { Body } from './body';
import type { AcceptedCall } from './call-plan';

/** One call of a connection. */
export interface Call<M> {
  readonly stream: Http2Stream<Call<M>>;
  readonly plan: AcceptedCall<M>;
  /** Its place in the table; the owner's name for it. */
  readonly ticket: number;
  deadlineMs: number;
  /**
   * `reading`: the request is not complete. `asked`: the owner has it. `answering`: the headers of the
   * answer went out. `over`: answered, refused or cancelled; what still comes in is dropped.
   */
  phase: 'reading' | 'asked' | 'answering' | 'over';
  body: Body | undefined;
  /** The request is complete, though messages of it may still wait to be handed on. */
  ended: boolean;
  /** What the owner made of the headers; undefined where it wants nothing of them. */
  note: unknown;
}

const NONE: readonly never[] = [];

/**
 * The calls of one connection by ticket: an array with a free list, which is cheaper than a map. A ticket
 * is given again only after `remove`.
 */
export class Calls<M> {
  /** Not later than the earliest deadline of the calls; Infinity when none has one. */
  nextDeadlineMs = Infinity;
  readonly #slots: (Call<M> | undefined)[] = [];
  readonly #free: number[] = [];

  add(stream: Http2Stream<Call<M>>, plan: AcceptedCall<M>, deadlineMs: number): Call<M> {
    const ticket = this.#free.pop() ?? this.#slots.length;
    const call: Call<M> = {
      stream,
      plan,
      ticket,
      deadlineMs,
      phase: 'reading',
      body: undefined,
      ended: false,
      note: undefined,
    };
    this.#slots[ticket] = call;
    if (deadlineMs < this.nextDeadlineMs) this.nextDeadlineMs = deadlineMs;
    return call;
  }

  /** The call, which keeps its ticket; undefined when the ticket is free. */
  get(ticket: number): Call<M> | undefined {
    return this.#slots[ticket];
  }

  /** Takes the call out; undefined when the ticket is free. */
  remove(ticket: number): Call<M> | undefined {
    const call = this.#slots[ticket];
    if (call === undefined) return undefined;
    this.#slots[ticket] = undefined;
    this.#free.push(ticket);
    return call;
  }

  /** The calls that are not over and whose deadline has come. Costs nothing before the first deadline. */
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
