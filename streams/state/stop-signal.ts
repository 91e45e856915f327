import { ReplaySubject, takeUntil, type MonoTypeOperatorFunction } from 'rxjs';

/** Ends streams that would run for ever. */
export interface StopSignal {
  /** Completes every stream that passes through, now and later. Safe to call twice. */
  stop(): void;
  until<T>(): MonoTypeOperatorFunction<T>;
}

export function createStopSignal(): StopSignal {
  const stoppedSubject = new ReplaySubject<void>(1);
  return {
    stop: () => {
      stoppedSubject.next();
    },
    until: () => takeUntil(stoppedSubject),
  };
}
