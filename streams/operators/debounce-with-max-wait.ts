import {
  connect,
  debounceTime,
  exhaustMap,
  merge,
  startWith,
  takeLast,
  takeUntil,
  timer,
  type MonoTypeOperatorFunction,
} from 'rxjs';

export interface DebounceOptions {
  /** A burst ends after this many milliseconds without a value. */
  readonly quietMs: number;
  /** A burst that does not end is emitted this many milliseconds after its first value. */
  readonly maxMs: number;
}

/** Emits the newest value of each burst, when the burst ends or is `maxMs` old. */
export function debounceWithMaxWait<T>({
  quietMs,
  maxMs,
}: DebounceOptions): MonoTypeOperatorFunction<T> {
  return connect((shared$) =>
    shared$.pipe(
      exhaustMap((first) => {
        const burst$ = shared$.pipe(startWith(first));
        const over$ = merge(burst$.pipe(debounceTime(quietMs)), timer(maxMs));
        return burst$.pipe(takeUntil(over$), takeLast(1));
      }),
    ),
  );
}
