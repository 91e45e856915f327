import { defer, finalize, Subject, takeUntil, throwError, type Observable } from 'rxjs';
import { createStopSignal } from './stop-signal';

/** Turns calls into a stream for one reader; holds nothing. */
export interface Mailbox<T> {
  /** One subscriber at a time: a second one gets an error. Completes with `close`. */
  readonly messages$: Observable<T>;
  /** Delivers at once; false when there is no reader (any more). */
  readonly post: (message: T) => boolean;
  /** Safe to call twice. */
  readonly close: () => void;
}

export function createMailbox<T>(): Mailbox<T> {
  const messagesSubject = new Subject<T>();
  const closed = createStopSignal();
  let isRead = false;
  return {
    messages$: defer(() => {
      if (isRead) return throwError(() => new Error('the mailbox has a reader already'));
      isRead = true;
      return messagesSubject.pipe(
        takeUntil(closed.stopped$),
        finalize(() => {
          isRead = false;
        }),
      );
    }),
    post(message) {
      if (!messagesSubject.observed) return false;
      messagesSubject.next(message);
      return true;
    },
    close: closed.stop,
  };
}
