import {
  connect,
  debounceTime,
  defer,
  distinctUntilChanged,
  endWith,
  exhaustMap,
  filter,
  interval,
  map,
  merge,
  of,
  startWith,
  take,
  takeUntil,
  tap,
  type Observable,
  type OperatorFunction,
} from 'rxjs';

/** What became of something that is tried again and again. */
export type AttemptResult<Reason> = FailedAttempt<Reason> | { readonly kind: 'worked' };

export interface FailedAttempt<Reason> {
  readonly kind: 'failed';
  /** Failures that this stands for, at least 1. */
  readonly times: number;
  readonly reason: Reason;
}

export interface OutageReport<Reason> {
  readonly kind: 'began' | 'continues' | 'ended';
  /** Failures since the report before; with `ended`, those of the whole outage. */
  readonly failures: number;
  /** Milliseconds since the outage began. */
  readonly lastedMs: number;
  /** Of the last failure. */
  readonly reason: Reason;
}

export interface OutageTiming {
  /** Milliseconds from one report of an outage to the next; silent while nothing failed in between. */
  readonly everyMs: number;
  /** An outage is over when an attempt worked and none failed for this long. */
  readonly quietMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * Turns attempts into few reports: the first failure at once, then how many there were in each period, then the end.
 * Completion reports an end that only waits for its quiet time.
 */
export function reportOutages<Reason>(
  timing: OutageTiming,
): OperatorFunction<AttemptResult<Reason>, OutageReport<Reason>> {
  return connect((attempts$) =>
    attempts$.pipe(
      filter((attempt) => attempt.kind === 'failed'),
      exhaustMap((first) => followOutage(first, attempts$, timing)),
    ),
  );
}

function followOutage<Reason>(
  first: FailedAttempt<Reason>,
  later$: Observable<AttemptResult<Reason>>,
  { everyMs, quietMs, now }: OutageTiming,
): Observable<OutageReport<Reason>> {
  return defer(() => {
    const sinceMs = now();
    let { reason, times: all } = first;
    let reported = all;
    const count = (attempt: AttemptResult<Reason>): void => {
      if (attempt.kind === 'worked') return;
      all += attempt.times;
      ({ reason } = attempt);
    };
    const report = (
      kind: OutageReport<Reason>['kind'],
      failures: number,
    ): OutageReport<Reason> => ({ kind, failures, lastedMs: now() - sinceMs, reason });

    const ended$ = later$.pipe(
      tap(count),
      startWith(first),
      distinctUntilChanged((a, b) => a.kind === 'worked' && b.kind === 'worked'),
      debounceTime(quietMs),
      filter(({ kind }) => kind === 'worked'),
      take(1),
      map(() => report('ended', all)),
    );
    const continues$ = interval(everyMs).pipe(
      filter(() => all > reported),
      map(() => {
        const failures = all - reported;
        reported = all;
        return report('continues', failures);
      }),
    );
    const began = report('began', all);
    return ended$.pipe(
      connect((end$) =>
        merge(of(began), continues$.pipe(takeUntil(end$.pipe(endWith(undefined)))), end$),
      ),
    );
  });
}
