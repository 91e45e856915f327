import { of, throwError, type Observable } from 'rxjs';
import { marbles } from 'rxjs-marbles/jest';
import { keepRefreshed } from '../../../streams';

const BACKOFF = { initialMs: 2, maxMs: 4, factor: 2, jitter: 0 };

/** Reads these values, one after the other and then the last; `#` cannot be read. */
function refresh(answers: string, everyMs: number) {
  const notes: string[] = [];
  let reads = 0;
  const load = (): Observable<string> => {
    const answer = answers[Math.min(reads, answers.length - 1)] ?? '';
    reads += 1;
    return answer === '#' ? throwError(() => new Error('away')) : of(answer);
  };
  const refreshed$ = keepRefreshed({
    load,
    everyMs,
    backoff: BACKOFF,
    random: () => 0.5,
    isSame: (a, b) => a === b,
    onFailure: (error, nextAttemptMs) =>
      notes.push(`${(error as Error).message} ${String(nextAttemptMs)}`),
    onRecovery: () => notes.push('recovered'),
  });
  return { refreshed$, notes };
}

describe('keepRefreshed', () => {
  it(
    'reads every so often and emits what has changed',
    marbles((m) => {
      const { refreshed$, notes } = refresh('aabbc', 3);
      m.expect(refreshed$, '^-------------!').toBeObservable('a-----b-----c');
      m.flush();
      expect(notes).toEqual([]);
    }),
  );

  it(
    'reads once where there is no interval',
    marbles((m) => {
      m.expect(refresh('ab', 0).refreshed$).toBeObservable('(a|)');
    }),
  );

  it(
    'waits longer after each failure, and says once that it reads again',
    marbles((m) => {
      const { refreshed$, notes } = refresh('a###ab#b', 5);
      // Reads at 0, 5, 7, 11, 15, 20, 25 and 27.
      m.expect(refreshed$, '^---------------------------!').toBeObservable('a-------------------b');
      m.flush();
      expect(notes).toEqual(['away 2', 'away 4', 'away 4', 'recovered', 'away 2', 'recovered']);
    }),
  );

  it(
    'emits the value that it has after failures at the start',
    marbles((m) => {
      m.expect(refresh('##a', 0).refreshed$).toBeObservable('------(a|)');
    }),
  );
});
