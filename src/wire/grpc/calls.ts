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
  /** What the owner made of the headers; undefined where it wants nothing of them. */
  note: unknown;
}

/**
 * The calls of one connection by ticket: an array with a free list, which is cheaper than a map. A ticket
 * is given again only after `remove`.
 */
export interface Calls<M> {
  add(stream: Http2Stream<Call<M>>, plan: AcceptedCall<M>, deadlineMs: number): Call<M>;
  /** The call, which keeps its ticket; undefined when the ticket is free. */
  get(ticket: number): Call<M> | undefined;
  /** Takes the call out; undefined when the ticket is free. */
  remove(ticket: number): Call<M> | undefined;
  /** The calls that are not over and whose deadline has come. Costs nothing before the first deadline. */
  takeExpired(nowMs: number): readonly Call<M>[];
  /** Not later than the earliest deadline of the calls; Infinity when none has one. */
  readonly nextDeadlineMs: number;
  readonly size: number;
}

const NONE: readonly never[] = [];

export function createCalls<M>(): Calls<M> {
  const slots: (Call<M> | undefined)[] = [];
  const free: number[] = [];
  let nextDeadlineMs = Infinity;
  return {
    add(stream, plan, deadlineMs) {
      const ticket = free.pop() ?? slots.length;
      const call: Call<M> = {
        stream,
        plan,
        ticket,
        deadlineMs,
        phase: 'reading',
        body: undefined,
        note: undefined,
      };
      slots[ticket] = call;
      if (deadlineMs < nextDeadlineMs) nextDeadlineMs = deadlineMs;
      return call;
    },
    get: (ticket) => slots[ticket],
    remove(ticket) {
      const call = slots[ticket];
      if (call === undefined) return undefined;
      slots[ticket] = undefined;
      free.push(ticket);
      return call;
    },
    takeExpired(nowMs) {
      if (nowMs < nextDeadlineMs) return NONE;
      const expired: Call<M>[] = [];
      nextDeadlineMs = Infinity;
      for (const call of slots) {
        if (call === undefined || call.phase === 'over') continue;
        if (call.deadlineMs <= nowMs) expired.push(call);
        else nextDeadlineMs = Math.min(nextDeadlineMs, call.deadlineMs);
      }
      return expired;
    },
    get nextDeadlineMs() {
      return nextDeadlineMs;
    },
    get size() {
      return slots.length - free.length;
    },
  };
}
