import { Observable } from 'rxjs';
import { failure } from '../core/errors';
import type { PendingRequest } from '../core/ports';

interface Taker {
  next(batch: readonly PendingRequest[]): void;
  complete(): void;
}

const DRAINING = failure('draining', 'the service is stopping and accepts no more requests');

/** Passes batches on unchanged: the requests of one socket read are one emission. */
export function createRequestBatches() {
  let subscriber: Taker | undefined;
  let closed = false;
  return {
    /** One subscriber at a time. Completes with `close`. */
    requests$: new Observable<readonly PendingRequest[]>((next) => {
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
    /** The answers come to the responders; `draining` when no requests are accepted (any more). */
    ask: (batch: readonly PendingRequest[]) => {
      if (subscriber !== undefined) subscriber.next(batch);
      else for (const { responder, callId } of batch) responder.answer(callId, DRAINING);
    },
    close() {
      closed = true;
      subscriber?.complete();
    },
  };
}

/** Gathers single requests into batches: the calls of one turn leave in one emission. */
export function createRequestSource() {
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
    /** One subscriber at a time. Completes with `close`. */
    requests$: batches.requests$,
    /** The answer comes to the responder, `draining` when no requests are accepted (any more). */
    ask: (pending: PendingRequest) => {
      if (closed) batches.ask([pending]);
      else if (waiting.push(pending) === 1) setImmediate(flush);
    },
    /** Emits the pending requests; later ones are answered `draining`. */
    close() {
      flush();
      closed = true;
      batches.close();
    },
  };
}
