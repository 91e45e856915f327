import { marbles } from 'rxjs-marbles/jest';
import { flushPeriodically } from '../../../streams';

interface Row {
  readonly life: string;
  readonly flush: string;
  /** How long the last flush may take. */
  readonly within: number;
  readonly listen?: string;
  readonly expected: string;
  /** When each flush was listened to. */
  readonly flushed?: string | string[];
}

const ROWS: readonly (readonly [string, Row])[] = [
  [
    'flushes at every interval, once more at the end, and completes with that',
    { life: '--------|', flush: 'a|', within: 5, expected: '---a--a-a|' },
  ],
  [
    'never runs two flushes at once and skips what is due meanwhile',
    {
      life: '-------------',
      flush: '----a|',
      within: 5,
      listen: '------------!',
      expected: '-------a-----',
      flushed: ['---^----!', '---------^--!'],
    },
  ],
  [
    'lets the running flush end before the last one',
    { life: '----|', flush: '---a|', within: 20, expected: '------a---a|' },
  ],
  [
    'cancels the last flush when its time is up',
    {
      life: '----|',
      flush: '-----------',
      within: 4,
      expected: '--------|',
      flushed: '---^----!',
    },
  ],
  [
    'flushes once when it is over before it begins',
    { life: '|', flush: '--(a|)', within: 4, expected: '--(a|)' },
  ],
  ['passes an error of a flush on', { life: '------', flush: '#', within: 4, expected: '---#' }],
];

describe('flushPeriodically', () => {
  it.each(ROWS)('%s', (_, { life, flush, within, listen, expected, flushed }) => {
    marbles((m) => {
      const flush$ = m.cold(flush);
      const flushes$ = flushPeriodically({
        everyMs: 3,
        life$: m.cold(life),
        flush: () => flush$,
        lastWithinMs: within,
        end: () => undefined,
      });
      m.expect(flushes$, listen).toBeObservable(expected);
      if (flushed !== undefined) m.expect(flush$).toHaveSubscriptions(flushed);
    })();
  });

  it.each([
    ['after the last flush', '----|', '-(a|)', '^----------', '-----(a|)'],
    ['when its time was up', '----|', '-----', '^----------', '------|'],
    ['when nobody listens', '--------', '-----', '^---------!', '-----------'],
  ])('says once that it is over, %s', (_, life, flush, listening, expected) => {
    let ends = 0;
    marbles((m) => {
      const flushes$ = flushPeriodically({
        everyMs: 10,
        life$: m.cold(life),
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
