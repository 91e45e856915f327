import { Observable, timer } from 'rxjs';

/** Below this many milliseconds a timer is too coarse; turns of the event loop are timed with the clock. */
const TIMER_RESOLUTION_MS = 1;

/** Emits once after pending I/O events have been handled. */
const immediate$ = new Observable<void>((subscriber) => {
  const handle = setImmediate(() => {
    subscriber.next();
    subscriber.complete();
  });
  return () => {
    clearImmediate(handle);
  };
});

/**
 * A window of the given length in milliseconds: 0 ends with this turn of the event loop. A window shorter
 * than a timer can measure ends with the first turn after its time. `now` is a monotonic clock in ms.
 */
export function turnWindow(windowMs: number, now: () => number): () => Observable<unknown> {
  if (windowMs <= 0) return () => immediate$;
  if (windowMs >= TIMER_RESOLUTION_MS) return () => timer(windowMs);
  return () => spinUntil(windowMs, now);
}

function spinUntil(windowMs: number, now: () => number): Observable<void> {
  return new Observable((subscriber) => {
    const end = now() + windowMs;
    const look = () => {
      if (now() < end) {
        handle = setImmediate(look);
        return;
      }
      subscriber.next();
      subscriber.complete();
    };
    let handle = setImmediate(look);
    return () => {
      clearImmediate(handle);
    };
  });
}
