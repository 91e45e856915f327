import { Observable } from 'rxjs';
import { failure } from '../core/errors';
import type { PendingRequest } from '../core/ports';

/** Hands on batches as they are: what one socket read brought is one emission. */
export interface RequestBatches {
  /** One subscriber at a time. Completes with `close`. */
  readonly requests$: Observable<readonly PendingRequest[]>;
  /** The answers come to the responders; `draining` when requests are not taken (any more). */
  readonly ask: (batch: readonly PendingRequest[]) => void;
  close(): void;
}

interface Taker {
  next(batch: readonly PendingRequest[]): void;
  complete(): void;
}

const DRAINING = failure('draining', 'the service is stopping and takes no more requests');

export function createRequestBatches(): RequestBatches {
  let subscriber: Taker | undefined;
  let closed = false;
  return {
    requests$: new Observable((next) => {
      if (subscriber !== undefined) {
        next.error(new Error('requests$ has a subscriber already'));
        return;
      }
      if (closed) {
        next.complete();
        return;
      }
      subscriber = next;
      return () => {
        subscriber = undefined;
      };
    }),
    ask(batch) {
      if (subscriber !== undefined) subscriber.next(batch);
      else for (const { responder, callId } of batch) responder.answer(callId, DRAINING);
    },
    close() {
      closed = true;
      subscriber?.complete();
    },
  };
}

/** Turns single requests into batches: the calls that arrive in one turn leave in one emission. */
export interface RequestSource {
  /** One subscriber at a time. Completes with `close`. */
  readonly requests$: Observable<readonly PendingRequest[]>;
  /** The answer comes to the responder, `draining` when requests are not taken (any more). */
  readonly ask: (pending: PendingRequest) => void;
  /** Hands on what it holds; from now on every request is answered `draining`. */
  close(): void;
}

export function createRequestSource(): RequestSource {
  const batches = createRequestBatches();
  let waiting: PendingRequest[] = [];
  let closed = false;

  const flush = () => {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    batches.ask(batch);
  };

  return {
    requests$: batches.requests$,
    ask(pending) {
      if (closed) batches.ask([pending]);
      else if (waiting.push(pending) === 1) setImmediate(flush);
    },
    close() {
      flush();
      closed = true;
      batches.close();
    },
  };
}
