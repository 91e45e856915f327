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
  /** Milliseconds between flushes; a flush that takes longer skips those that become due. */
  readonly everyMs: number;
  /** Flushes repeat until this completes; then the last one follows. */
  readonly life$: Observable<unknown>;
  readonly flush: () => ObservableInput<R>;
  /** Milliseconds after the end of `life$` at which the last flush is cancelled. */
  readonly lastWithinMs: number;
  /** Called once at the end, also on teardown. */
  readonly end: () => void;
}

/** Emits the results of each flush. Never runs two at once; the last one picks up what a running one missed. */
export function flushPeriodically<R>(options: FlushPeriodically<R>): Observable<R> {
  const { everyMs, life$, flush, lastWithinMs, end } = options;
  const over$ = life$.pipe(ignoreElements(), endWith(undefined));
  const flush$ = defer(flush);
  const ticks$ = timer(everyMs, everyMs).pipe(takeUntil(over$));
  const regular$ = ticks$.pipe(exhaustMap(() => flush$));
  return concat(regular$, flush$).pipe(finalize(end), takeUntil(over$.pipe(delay(lastWithinMs))));
}
