import { Observable, timer } from 'rxjs';
import { immediate$ } from './immediate';

/** Below this many milliseconds a timer is too coarse, and turns are counted with the clock. */
const TIMER_RESOLUTION_MS = 1;

/**
 * A window of the given length in milliseconds: 0 ends with this turn of the event loop. Shorter ones
 * than a timer can measure end with the first turn after their time. `now` is a monotonic clock in ms.
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
