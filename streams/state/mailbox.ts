import { defer, finalize, Subject, takeUntil, throwError } from 'rxjs';
import { createStopSignal } from '../stop';

/** Turns calls into a stream for one reader; holds nothing. */
export function createMailbox<T>() {
  const messagesSubject = new Subject<T>();
  const closed = createStopSignal();
  let isRead = false;
  return {
    /** For one subscriber at a time: a second one gets an error. Completes with `close`. */
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
    /** Delivers at once; returns false without a reader. */
    post(message: T) {
      if (!messagesSubject.observed) return false;
      messagesSubject.next(message);
      return true;
    },
    /** Safe to call twice. */
    close: closed.stop,
  };
}
