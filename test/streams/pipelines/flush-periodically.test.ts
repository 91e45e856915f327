import { marbles } from 'rxjs-marbles/jest';
import { flushPeriodically } from '../../../streams';

const nothing = () => undefined;

describe('flushPeriodically', () => {
  it(
    'flushes at every interval, once more at the end, and completes with that',
    marbles((m) => {
      const life = m.hot('  --------|');
      const flush = m.cold('a|');
      const flushes$ = flushPeriodically({
        everyMs: 3,
        life$: life,
        flush: () => flush,
        lastWithinMs: 5,
        end: nothing,
      });
      m.expect(flushes$).toBeObservable('---a--a-a|');
    }),
  );

  it(
    'never runs two flushes at once and skips what is due meanwhile',
    marbles((m) => {
      const life = m.hot('  -------------');
      const flush = m.cold('----a|');
      const flushes$ = flushPeriodically({
        everyMs: 3,
        life$: life,
        flush: () => flush,
        lastWithinMs: 5,
        end: nothing,
      });
      m.expect(flushes$, '   ------------!').toBeObservable('-------a-----');
      m.expect(flush).toHaveSubscriptions(['---^----!', '---------^--!']);
    }),
  );

  it(
    'lets the running flush end before the last one',
    marbles((m) => {
      const life = m.hot('  ----|');
      const flush = m.cold('---a|');
      const flushes$ = flushPeriodically({
        everyMs: 3,
        life$: life,
        flush: () => flush,
        lastWithinMs: 20,
        end: nothing,
      });
      m.expect(flushes$).toBeObservable('------a---a|');
    }),
  );

  it(
    'cancels the last flush when its time is up',
    marbles((m) => {
      const life = m.hot('  ----|');
      const flush = m.cold('-----------');
      const flushes$ = flushPeriodically({
        everyMs: 3,
        life$: life,
        flush: () => flush,
        lastWithinMs: 4,
        end: nothing,
      });
      m.expect(flushes$).toBeObservable('--------|');
      m.expect(flush).toHaveSubscriptions('---^----!');
    }),
  );

  it(
    'flushes once when it is over before it begins',
    marbles((m) => {
      const flushes$ = flushPeriodically({
        everyMs: 3,
        life$: m.cold('|'),
        flush: () => m.cold('--(a|)'),
        lastWithinMs: 4,
        end: nothing,
      });
      m.expect(flushes$).toBeObservable('--(a|)');
    }),
  );

  it(
    'passes an error of a flush on',
    marbles((m) => {
      const flushes$ = flushPeriodically({
        everyMs: 3,
        life$: m.hot('------'),
        flush: () => m.cold('#'),
        lastWithinMs: 4,
        end: nothing,
      });
      m.expect(flushes$).toBeObservable('---#');
    }),
  );

  it.each([
    ['after the last flush', '    ----|   ', '-(a|)', '^----------', '-----(a|)'],
    ['when its time was up', '    ----|   ', '-----', '^----------', '------|'],
    ['when nobody listens', '     --------', '-----', '^---------!', '-----------'],
  ])('says once that it is over, %s', (_, life, flush, listening, expected) => {
    let ends = 0;
    marbles((m) => {
      const flushes$ = flushPeriodically({
        everyMs: 10,
        life$: m.cold(life.trim()),
        flush: () => m.cold(flush),
        lastWithinMs: 2,
        end: () => {
          ends += 1;
        },
      });
      m.expect(flushes$, listening).toBeObservable(expected);
      m.flush();
      expect(ends).toBe(1);
    })();
  });
});
