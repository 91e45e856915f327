import { first, merge, timer, type Observable } from 'rxjs';

/** Emits once: with the first `true`, or after so many milliseconds without one. */
export function trueWithin(flag$: Observable<boolean>, withinMs: number): Observable<unknown> {
  return merge(flag$, timer(withinMs)).pipe(first((seen) => seen === true || seen === 0));
}
