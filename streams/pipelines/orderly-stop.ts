import { connect, from, map, merge, mergeMap, skip, take, timer, type Observable } from 'rxjs';

export interface OrderlyStop<Signal> {
  /** The first begins the stop, the second ends it at once. */
  readonly signals$: Observable<Signal>;
  /** Called with the first signal; settles when everything has ended. */
  readonly stop: (signal: Signal) => Promise<void>;
  /** Milliseconds that a stop may take. */
  readonly withinMs: number;
}

/** How a stop came to its end: everything ended, another signal came, or the time was over. */
export type StopEnd = 'stopped' | 'interrupted' | 'late';

/** Emits once, at the end of the stop that the first signal begins. */
export function orderlyStop<Signal>(options: OrderlyStop<Signal>): Observable<StopEnd> {
  const { signals$, stop, withinMs } = options;
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
          skip(1),
          map((): StopEnd => 'interrupted'),
        ),
      ),
    ),
    take(1),
  );
}
