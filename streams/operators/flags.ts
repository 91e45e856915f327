import { combineLatest, first, map, merge, startWith, timer, type Observable } from 'rxjs';

/** Turns true, for good, when each of these flags has been true once; at least one flag. */
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
