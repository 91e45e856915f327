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

export interface LostConnection {
  /** Milliseconds for which the connection was good. */
  readonly goodMs: number;
  /** It was useful, however short it was good. */
  readonly hasServed: boolean;
}

export interface KeepConnected {
  /** Connects and emits once the connection is lost; errors when connecting failed. Takes the number of failed attempts in a row. */
  readonly connect: (failures: number) => ObservableInput<LostConnection>;
  readonly backoff: BackoffPolicy;
  /** A connection that was good for this time is retried without a wait. */
  readonly steadyMs: number;
  /** Wait after a shorter connection that had served. */
  readonly servedWaitMs: number;
  /** How long the first connection may take before the stream errors; 0: for ever. */
  readonly giveUpAfterMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onFailure: (error: unknown, failures: number, nextAttemptMs: number) => void;
  /** The error of the stream when it gives up. */
  readonly toFinalError: (error: unknown) => Error;
  /** Called once when the stream ends or is unsubscribed, to release what is open. */
  readonly onEnd: () => void;
}

/** Reconnects while it is subscribed to, with a growing backoff after consecutive failures. */
export function keepConnected(options: KeepConnected): Observable<never> {
  const { connect, backoff, steadyMs, servedWaitMs, giveUpAfterMs, now, random, onFailure } =
    options;
  const { toFinalError, onEnd } = options;
  return defer(() => {
    const startedMs = now();
    let failures = 0;
    let canGiveUp = giveUpAfterMs > 0;
    const nextDelay = () => (failures === 0 ? 0 : backoffDelay(backoff, failures, random));

    return defer(() => from(connect(failures))).pipe(
      map(({ goodMs, hasServed }) => {
        canGiveUp = false;
        const isSteady = goodMs >= steadyMs;
        failures = isSteady || hasServed ? 0 : failures + 1;
        return hasServed && !isSteady ? servedWaitMs : nextDelay();
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
