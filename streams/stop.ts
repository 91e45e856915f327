import {
  ReplaySubject,
  takeUntil,
  type MonoTypeOperatorFunction,
  type Observable,
  connect,
  delay,
  from,
  map,
  merge,
  mergeMap,
  skipUntil,
  take,
  timer,
} from 'rxjs';

/** Ends streams that would not end by themselves. */
export interface StopSignal {
  /** Completes every stream that passes through, now and later. Safe to call twice. */
  readonly stop: () => void;
  until<T>(): MonoTypeOperatorFunction<T>;
  /** Completes with `stop`, also for later subscribers. */
  readonly stopped$: Observable<void>;
}

export function createStopSignal(): StopSignal {
  const stoppedSubject = new ReplaySubject<void>(1);
  return {
    stop: () => {
      stoppedSubject.next();
      stoppedSubject.complete();
    },
    until: () => takeUntil(stoppedSubject),
    stopped$: stoppedSubject.asObservable(),
  };
}

export interface OrderlyStop<Signal> {
  /** The first signal begins the stop, a second one ends it at once. */
  readonly signals$: Observable<Signal>;
  /** Called with the first signal; settles when everything has ended. */
  readonly stop: (signal: Signal) => Promise<void>;
  /** Milliseconds that a stop may take. */
  readonly withinMs: number;
  /**
   * Signals within this many milliseconds of the first count as the same: Ctrl-C reaches every process of a terminal, and npm
   * forwards it to its child once more.
   */
  readonly sameWithinMs: number;
}

/** How a stop ended: everything ended, another signal came, or its time was over. */
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
