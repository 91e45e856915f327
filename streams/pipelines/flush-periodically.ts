import {
  concat,
  defer,
  delay,
  endWith,
  exhaustMap,
  finalize,
  ignoreElements,
  takeUntil,
  timer,
  type Observable,
  type ObservableInput,
} from 'rxjs';

export interface FlushPeriodically<R> {
  /** Milliseconds from one flush to the next; a flush that takes longer skips the ones that are due. */
  readonly everyMs: number;
  /** Flushes go on until this completes; then comes a last one. */
  readonly life$: Observable<unknown>;
  readonly flush: () => ObservableInput<R>;
  /** Milliseconds after the end of `life$` at which the last flush is cancelled. */
  readonly lastWithinMs: number;
  /** Called once it is all over, also on teardown. */
  readonly end: () => void;
}

/** Emits what each flush does. Never two at once; what a running one missed is left to the last. */
export function flushPeriodically<R>(options: FlushPeriodically<R>): Observable<R> {
  const { everyMs, life$, flush, lastWithinMs, end } = options;
  const over$ = life$.pipe(ignoreElements(), endWith(undefined));
  const flush$ = defer(flush);
  const ticks$ = timer(everyMs, everyMs).pipe(takeUntil(over$));
  const regular$ = ticks$.pipe(exhaustMap(() => flush$));
  return concat(regular$, flush$).pipe(finalize(end), takeUntil(over$.pipe(delay(lastWithinMs))));
}
