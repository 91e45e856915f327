import {
  catchError,
  concatMap,
  defer,
  finalize,
  from,
  ignoreElements,
  map,
  of,
  repeat,
  timer,
  type Observable,
  type ObservableInput,
} from 'rxjs';
import { backoffDelay, type BackoffPolicy } from '../backoff';

export interface KeepConnected {
  /**
   * Connects and emits, once the connection is lost, for how many milliseconds it was good; errors when
   * none came about. Takes the number of failed attempts in a row.
   */
  readonly connect: (failures: number) => ObservableInput<number>;
  readonly backoff: BackoffPolicy;
  /** A connection that was good for this long needs no wait before the next attempt. */
  readonly steadyMs: number;
  /** How long the first connection may take before the stream errors; 0: for ever. */
  readonly giveUpAfterMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onFailure: (error: unknown, failures: number, nextAttemptMs: number) => void;
  /** What the stream errors with when it gives up. */
  readonly toFinalError: (error: unknown) => Error;
  /** Called once when the stream ends or is unsubscribed: time to let go of what is open. */
  readonly onEnd: () => void;
}

/** Connects again and again while it is subscribed to, waiting longer after each failure in a row. */
export function keepConnected(options: KeepConnected): Observable<never> {
  const { connect, backoff, steadyMs, giveUpAfterMs, now, random, onFailure } = options;
  const { toFinalError, onEnd } = options;
  return defer(() => {
    const startedMs = now();
    let failures = 0;
    let canGiveUp = giveUpAfterMs > 0;
    const nextDelay = () => (failures === 0 ? 0 : backoffDelay(backoff, failures, random));

    return defer(() => from(connect(failures))).pipe(
      map((goodMs) => {
        canGiveUp = false;
        failures = goodMs >= steadyMs ? 0 : failures + 1;
        return nextDelay();
      }),
      catchError((error: unknown) => {
        failures += 1;
        const delayMs = Math.round(nextDelay());
        if (canGiveUp && now() - startedMs + delayMs > giveUpAfterMs) throw toFinalError(error);
        onFailure(error, failures, delayMs);
        return of(delayMs);
      }),
      concatMap((delayMs) => timer(delayMs)),
      ignoreElements(),
      repeat(),
      finalize(onEnd),
    );
  });
}
