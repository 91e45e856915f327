import {
  concatMap,
  defer,
  exhaustMap,
  filter,
  ignoreElements,
  repeat,
  take,
  tap,
  timer,
  type Observable,
  type ObservableInput,
} from 'rxjs';
import { backoffDelay, type BackoffPolicy } from '../backoff';

export interface Regain {
  /** Whether it is lost. While it is polled, further losses change nothing. */
  readonly isLost$: Observable<boolean>;
  /** Emits whether it is available again. */
  readonly ask: () => ObservableInput<boolean>;
  /** Backoff between polls after a loss. */
  readonly backoff: BackoffPolicy;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onRegained: () => void;
}

/** Polls for something that was lost, with backoff, until it is available again. */
export function regain({ isLost$, ask, backoff, random, onRegained }: Regain): Observable<never> {
  return isLost$.pipe(
    filter((isLost) => isLost),
    exhaustMap(() => {
      let asked = 0;
      return defer(() => {
        asked += 1;
        return timer(backoffDelay(backoff, asked, random));
      }).pipe(
        concatMap(ask),
        repeat(),
        filter((isThere) => isThere),
        take(1),
      );
    }),
    tap(onRegained),
    ignoreElements(),
  );
}
