import { combineLatest, first, map, startWith, type Observable } from 'rxjs';

/** Turns true, for good, when each of these flags has been true once; at least one flag. */
export function eachTrueOnce(flags: readonly Observable<boolean>[]): Observable<boolean> {
  const once = flags.map((flag$) => flag$.pipe(first(Boolean, false), startWith(false)));
  return combineLatest(once).pipe(map((seen) => !seen.includes(false)));
}
