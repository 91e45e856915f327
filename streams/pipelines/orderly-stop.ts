import {
  connect,
  delay,
  from,
  map,
  merge,
  mergeMap,
  skipUntil,
  take,
  timer,
  type Observable,
} from 'rxjs';

export interface OrderlyStop<Signal> {
  /** The first begins the stop, a second one ends it at once. */
  readonly signals$: Observable<Signal>;
  /** Called with the first signal; settles when everything has ended. */
  readonly stop: (signal: Signal) => Promise<void>;
  /** Milliseconds that a stop may take. */
  readonly withinMs: number;
  /**
   * Signals that come within so many milliseconds of the first are the same one: Ctrl-C reaches every process of a
   * terminal, and npm passes it on to its child once more.
   */
  readonly sameWithinMs: number;
}

/** How a stop came to its end: everything ended, another signal came, or the time was over. */
export type StopEnd = 'stopped' | 'interrupted' | 'late';

/** Emits once, at the end of the stop that the first signal begins. */
export function orderlyStop<Signal>(options: OrderlyStop<Signal>): Observable<StopEnd> {
  const { signals$, stop, withinMs, sameWithinMs } = options;
  return signals$.pipe(
    connect((shared$) =>
      merge(
        shared$.pipe(
          take(1),
          mergeMap((signal) =>
            merge(
              from(stop(signal)).pipe(map((): StopEnd => 'stopped')),
              timer(withinMs).pipe(map((): StopEnd => 'late')),
            ),
          ),
        ),
        shared$.pipe(
          skipUntil(shared$.pipe(delay(sameWithinMs))),
          map((): StopEnd => 'interrupted'),
        ),
      ),
    ),
    take(1),
  );
}
