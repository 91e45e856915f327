import { type Observable } from 'rxjs';
import { marbles } from 'rxjs-marbles/jest';
import { reportOutages, type AttemptResult, type OutageReport } from '../../../streams';

const ATTEMPTS: Readonly<Record<string, AttemptResult<string>>> = {
  f: { kind: 'failed', times: 1, reason: 'refused' },
  g: { kind: 'failed', times: 10, reason: 'no answer' },
  h: { kind: 'failed', times: 10, reason: 'refused' },
  w: { kind: 'succeeded' },
};

const report = (
  kind: OutageReport<string>['kind'],
  failures: number,
  lastedMs: number,
  reason = 'refused',
): OutageReport<string> => ({ kind, failures, lastedMs, reason });

/** A report each 10 frames, a new reason each 5 at most, an end after 3 quiet ones. */
const watch = (attempts$: Observable<AttemptResult<string>>, now: () => number) =>
  attempts$.pipe(
    reportOutages({
      everyMs: 10,
      changeMs: 5,
      quietMs: 3,
      isSame: (a, b) => a === b,
      now,
    }),
  );

describe('reportOutages', () => {
  it(
    'is silent while everything works',
    marbles((m) => {
      const attempts = m.hot('w-w-ww--w-|', ATTEMPTS);
      const now = () => m.scheduler.now();
      m.expect(watch(attempts, now)).toBeObservable('----------|');
    }),
  );

  it(
    'reports the first failure at once, those of each period together, and the end',
    marbles((m) => {
      const attempts = m.hot(' -f-fh--------ff-----------------w----', ATTEMPTS);
      const expected = '       -a---------b---------c-------------d-';
      const now = () => m.scheduler.now();
      m.expect(watch(attempts, now)).toBeObservable(expected, {
        a: report('began', 1, 0),
        b: report('continues', 11, 10),
        c: report('continues', 2, 20),
        d: report('ended', 14, 34),
      });
    }),
  );

  it(
    'reports a new reason at once, and the next one when that is 5 frames ago',
    marbles((m) => {
      const attempts = m.hot(' f-g-f----w----', ATTEMPTS);
      const expected = '       a-b----c----d--';
      const now = () => m.scheduler.now();
      m.expect(watch(attempts, now)).toBeObservable(expected, {
        a: report('began', 1, 0),
        b: report('continues', 10, 2, 'no answer'),
        c: report('continues', 1, 7),
        d: report('ended', 12, 12),
      });
    }),
  );

  it(
    'does not report a reason that has gone again meanwhile',
    marbles((m) => {
      const attempts = m.hot(' f-g-fg---w----', ATTEMPTS);
      const expected = '       a-b-------c-d--';
      const now = () => m.scheduler.now();
      m.expect(watch(attempts, now)).toBeObservable(expected, {
        a: report('began', 1, 0),
        b: report('continues', 10, 2, 'no answer'),
        c: report('continues', 11, 10, 'no answer'),
        d: report('ended', 22, 12, 'no answer'),
      });
    }),
  );

  it(
    'says nothing in a period in which nothing was tried',
    marbles((m) => {
      const attempts = m.hot(' f-------------------------------f-------', ATTEMPTS);
      const expected = '       a---------------------------------------b';
      const now = () => m.scheduler.now();
      const until = '          ^----------------------------------------!';
      m.expect(watch(attempts, now), until).toBeObservable(expected, {
        a: report('began', 1, 0),
        b: report('continues', 1, 40),
      });
    }),
  );

  it(
    'takes what works now and then for the same outage',
    marbles((m) => {
      const attempts = m.hot(' fw-fw-fw-fw-fwww---', ATTEMPTS);
      const expected = '       a---------b-----c---';
      const now = () => m.scheduler.now();
      m.expect(watch(attempts, now)).toBeObservable(expected, {
        a: report('began', 1, 0),
        b: report('continues', 3, 10),
        c: report('ended', 5, 16),
      });
    }),
  );

  it(
    'ends while calls go on working, and reports the next outage anew',
    marbles((m) => {
      const attempts = m.hot(' fwwwwwwwwwf--w---', ATTEMPTS);
      const expected = '       a---b-----c-----d';
      const now = () => m.scheduler.now();
      m.expect(watch(attempts, now)).toBeObservable(expected, {
        a: report('began', 1, 0),
        b: report('ended', 1, 4),
        c: report('began', 1, 0),
        d: report('ended', 1, 6),
      });
    }),
  );

  it(
    'reports an end that waits when it completes, and none of an outage that goes on',
    marbles((m) => {
      const now = () => m.scheduler.now();
      const back = m.hot(' f-w|', ATTEMPTS);
      m.expect(watch(back, now)).toBeObservable('a--(b|)', {
        a: report('began', 1, 0),
        b: report('ended', 1, 3),
      });
      const away = m.hot(' fwf|', ATTEMPTS);
      m.expect(watch(away, now)).toBeObservable('a--|', { a: report('began', 1, 0) });
    }),
  );

  it(
    'lets go of its source and its timers',
    marbles((m) => {
      const attempts = m.hot(' f------', ATTEMPTS);
      m.expect(
        watch(attempts, () => 0),
        '^---!',
      ).toBeObservable('a', {
        a: report('began', 1, 0),
      });
      m.expect(attempts).toHaveSubscriptions('^---!');
    }),
  );
});
