import { ReplaySubject, takeUntil, type MonoTypeOperatorFunction, type Observable } from 'rxjs';

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
