import {
  combineLatest,
  filter,
  first,
  map,
  merge,
  startWith,
  switchMap,
  take,
  timer,
  type Observable,
} from 'rxjs';

/** Emits true, and stays so, once each of these flags has been true; at least one flag. */
export function eachTrueOnce(flags: readonly Observable<boolean>[]): Observable<boolean> {
  const once = flags.map((flag$) => flag$.pipe(first(Boolean, false), startWith(false)));
  return combineLatest(once).pipe(map((seen) => !seen.includes(false)));
}

/** Emits once: with the first `true`, or after `timeoutMs` without one. */
export function firstTrueOrTimeout(
  flag$: Observable<boolean>,
  timeoutMs: number,
): Observable<unknown> {
  return merge(flag$, timer(timeoutMs)).pipe(first((seen) => seen === true || seen === 0));
}

/** Switches to another stream when a flag is first true; empty where the flag ends before. */
export function onceTrue<T>(flag$: Observable<boolean>, other$: Observable<T>): Observable<T> {
  return flag$.pipe(
    filter(Boolean),
    take(1),
    switchMap(() => other$),
  );
}
