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
  /** A burst is over once nothing came for this many milliseconds. */
  readonly quietMs: number;
  /** A burst that never ends is emitted this many milliseconds after its first value. */
  readonly maxMs: number;
}

/** Emits the newest value of each burst, when the burst is over or `maxMs` old. */
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
