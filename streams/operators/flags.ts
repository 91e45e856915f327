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
  distinctUntilChanged,
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

export interface HealthStatus<Name extends string> {
  readonly serving: boolean;
  readonly down: readonly Name[];
}

/** Serving while every signal is up; a signal without a value yet counts as down. */
export function healthStatus<Name extends string>(
  signals: Readonly<Record<Name, Observable<boolean>>>,
): Observable<HealthStatus<Name>> {
  const names = Object.keys(signals) as Name[];
  return combineLatest(
    names.map((name) => signals[name].pipe(startWith(false), distinctUntilChanged())),
  ).pipe(
    map((ups) => names.filter((_, i) => !ups[i])),
    map((down) => ({ serving: down.length === 0, down })),
  );
}
