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

export interface SettleOptions {
  /** A burst is over once nothing came for this long. */
  readonly quietMs: number;
  /** A burst that never ends is handed on this long after its first value. */
  readonly maxMs: number;
}

/** Of each burst of values only the newest, when the burst is over or `maxMs` old. */
export function settle<T>({ quietMs, maxMs }: SettleOptions): MonoTypeOperatorFunction<T> {
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
