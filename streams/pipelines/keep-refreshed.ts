import {
  defer,
  distinctUntilChanged,
  identity,
  repeat,
  retry,
  tap,
  timer,
  type Observable,
  type ObservableInput,
} from 'rxjs';
import { backoffDelay, type BackoffPolicy } from '../backoff';

export interface KeepRefreshed<T> {
  /** Reads the value; errors when it cannot be read. */
  readonly load: () => ObservableInput<T>;
  /** Milliseconds between successful reads; 0: read successfully once. */
  readonly everyMs: number;
  /** Backoff after failed reads. */
  readonly backoff: BackoffPolicy;
  /** In [0, 1). */
  readonly random: () => number;
  readonly isSame: (a: T, b: T) => boolean;
  readonly onFailure: (error: unknown, nextAttemptMs: number) => void;
  /** Called for the first successful read after failed ones. */
  readonly onRecovery: () => void;
}

/** Reads a value repeatedly, and emits it first and whenever it has changed. */
export function keepRefreshed<T>(options: KeepRefreshed<T>): Observable<T> {
  const { load, everyMs, backoff, random, isSame, onFailure, onRecovery } = options;
  return defer(() => {
    let failures = 0;
    return defer(load).pipe(
      tap(() => {
        if (failures > 0) onRecovery();
        failures = 0;
      }),
      everyMs > 0 ? repeat({ delay: everyMs }) : identity,
      retry({
        delay(error) {
          failures += 1;
          const delayMs = Math.round(backoffDelay(backoff, failures, random));
          onFailure(error, delayMs);
          return timer(delayMs);
        },
      }),
      distinctUntilChanged(isSame),
    );
  });
}
