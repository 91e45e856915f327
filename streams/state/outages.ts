import {
  finalize,
  mergeAll,
  Subject,
  takeWhile,
  type Observable,
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
  throttleTime,
  type OperatorFunction,
} from 'rxjs';
import { createStopSignal } from '../stop';

interface Followed<Reason> {
  readonly attemptsSubject: Subject<AttemptResult<Reason>>;
  readonly sinceMs: number;
  reason: Reason;
  succeededMs: number | undefined;
}

export interface OpenOutage<Reason> {
  readonly name: string;
  /** The reason of its latest failure. */
  readonly reason: Reason;
  readonly lastedMs: number;
}

/** Follows at most `maxOpen` outages at the same time: one more evicts the oldest. */
export function createOutages<Reason>(timing: OutageTiming<Reason>, maxOpen: number) {
  const { now, quietMs } = timing;
  const followedSubject = new Subject<Observable<OutageReport<Reason>>>();
  const stopping = createStopSignal();
  const open = new Map<string, Followed<Reason>>();

  const end = (name: string): boolean => {
    const followed = open.get(name);
    open.delete(name);
    followed?.attemptsSubject.complete();
    return followed !== undefined;
  };
  const begin = (name: string, reason: Reason): Followed<Reason> => {
    const [oldest] = open.keys();
    if (oldest !== undefined && open.size >= maxOpen) end(oldest);
    const attemptsSubject = new Subject<AttemptResult<Reason>>();
    const followed = { attemptsSubject, sinceMs: now(), reason, succeededMs: undefined };
    open.set(name, followed);
    followedSubject.next(
      attemptsSubject.pipe(
        reportOutages(timing),
        takeWhile(({ kind }) => kind !== 'ended', true),
        finalize(() => {
          if (open.get(name) === followed) open.delete(name);
        }),
      ),
    );
    return followed;
  };

  return {
    /** Reports failures of a name, `times` of them. */
    failed: (name: string, reason: Reason, times: number) => {
      const followed = open.get(name) ?? begin(name, reason);
      followed.reason = reason;
      followed.succeededMs = undefined;
      followed.attemptsSubject.next({ kind: 'failed', times, reason });
    },
    /** Reports a success of a name. Costs nothing while the name has not failed. */
    succeeded: (name: string) => {
      const followed = open.get(name);
      if (followed === undefined) return;
      followed.succeededMs ??= now();
      followed.attemptsSubject.next({ kind: 'succeeded' });
    },
    /** The name does not exist any more: stops following it. Returns whether that ended an outage. */
    removed: end,
    /** The current outages: each from its first failure until it has succeeded for `quietMs`. */
    list: (): readonly OpenOutage<Reason>[] => {
      const nowMs = now();
      return [...open]
        .filter(([, { succeededMs = nowMs }]) => nowMs - succeededMs < quietMs)
        .map(([name, { reason, sinceMs }]) => ({ name, reason, lastedMs: nowMs - sinceMs }));
    },
    /** Subscribe before the first failure. Completes after `close`. */
    reports$: followedSubject.pipe(mergeAll(), stopping.until()),
    close: () => {
      for (const name of [...open.keys()]) end(name);
      stopping.stop();
    },
  };
}

/** The outcome of an operation that is retried. */
export type AttemptResult<Reason> = FailedAttempt<Reason> | { readonly kind: 'succeeded' };

interface FailedAttempt<Reason> {
  readonly kind: 'failed';
  /** Number of failures that this represents, at least 1. */
  readonly times: number;
  readonly reason: Reason;
}

export interface OutageReport<Reason> {
  readonly kind: 'began' | 'continues' | 'ended';
  /** Failures since the previous report; with `ended`, those of the whole outage. */
  readonly failures: number;
  /** Milliseconds since the outage began. */
  readonly lastedMs: number;
  /** The reason of the last failure. */
  readonly reason: Reason;
}

interface OutageTiming<Reason> {
  /** Milliseconds between two reports of an outage; silent while nothing failed in between. */
  readonly everyMs: number;
  /** At most one report of a changed reason within this many milliseconds. */
  readonly changeMs: number;
  readonly isSame: (a: Reason, b: Reason) => boolean;
  /** An outage ends when an attempt succeeded and none failed for this time. */
  readonly quietMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * Reduces attempts to few reports: the first failure at once, then the number per period and each new reason, then the end.
 * Completion reports an end that only waits for its quiet time.
 */
export function reportOutages<Reason>(
  timing: OutageTiming<Reason>,
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
  { everyMs, changeMs, quietMs, isSame, now }: OutageTiming<Reason>,
): Observable<OutageReport<Reason>> {
  return defer(() => {
    const sinceMs = now();
    let { reason, times: all } = first;
    let reported = 0;
    let lastReason = reason;
    const count = (attempt: AttemptResult<Reason>): void => {
      if (attempt.kind === 'succeeded') return;
      all += attempt.times;
      ({ reason } = attempt);
    };
    const report = (kind: 'began' | 'continues'): OutageReport<Reason> => {
      const failures = all - reported;
      reported = all;
      lastReason = reason;
      return { kind, failures, lastedMs: now() - sinceMs, reason };
    };
    const end = (): OutageReport<Reason> => {
      return { kind: 'ended', failures: all, lastedMs: now() - sinceMs, reason };
    };
    const began = report('began');

    const follow$ = (
      counted$: Observable<AttemptResult<Reason>>,
    ): Observable<OutageReport<Reason>> => {
      const ended$ = counted$.pipe(
        startWith(first),
        distinctUntilChanged((a, b) => a.kind === 'succeeded' && b.kind === 'succeeded'),
        debounceTime(quietMs),
        filter(({ kind }) => kind === 'succeeded'),
        take(1),
        map(end),
      );
      const continues$ = interval(everyMs).pipe(filter(() => all > reported));
      const changes$ = counted$.pipe(
        filter(() => !isSame(reason, lastReason)),
        throttleTime(changeMs, undefined, { leading: true, trailing: true }),
        filter(() => !isSame(reason, lastReason)),
      );
      const reports$ = merge(continues$, changes$).pipe(map(() => report('continues')));
      return ended$.pipe(
        connect((end$) =>
          merge(of(began), reports$.pipe(takeUntil(end$.pipe(endWith(undefined)))), end$),
        ),
      );
    };
    return later$.pipe(tap(count), connect(follow$));
  });
}
