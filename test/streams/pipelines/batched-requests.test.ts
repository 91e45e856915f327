import { marbles } from 'rxjs-marbles/jest';
import { NEVER, delay, of, timer } from 'rxjs';
import { batchedRequests } from '../../../streams';

const groups = { a: ['a'], b: ['b'], c: ['c'] };

describe('batchedQuestions', () => {
  it(
    'answers a batch at a time, without waiting for an earlier one',
    marbles((m) => {
      const answers = { x: 'ab', y: 'c' };
      const waits: Record<string, number> = { ab: 8, c: 1 };
      const source = m.hot(' -ab---c------|', groups);
      const expected = '     ---------y-x-|';
      const result = source.pipe(
        batchedRequests({
          until: () => timer(2),
          answer: (batch: readonly string[]) => {
            const joined = batch.join('');
            return of(joined).pipe(delay(waits[joined] ?? 0));
          },
        }),
      );
      m.expect(result).toBeObservable(expected, answers);
    }),
  );

  it(
    'completes only when what is in flight is answered',
    marbles((m) => {
      const source = m.hot(' -a|', groups);
      const expected = '     -----(x|)';
      const result = source.pipe(
        batchedRequests({
          until: () => NEVER,
          answer: (batch: readonly string[]) => of(batch.join('')).pipe(delay(3)),
        }),
      );
      m.expect(result).toBeObservable(expected, { x: 'a' });
    }),
  );
});
