import { Observable } from 'rxjs';

/**
 * Runs `task` on subscribe and emits its result; nothing when that is undefined. Unsubscribing aborts its signal, and later results
 * are ignored.
 */
export function fromTask<T>(task: (signal: AbortSignal) => Promise<T | undefined>): Observable<T> {
  return new Observable((subscriber) => {
    const abort = new AbortController();
    task(abort.signal).then(
      (value) => {
        if (value !== undefined) subscriber.next(value);
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      abort.abort();
    };
  });
}
