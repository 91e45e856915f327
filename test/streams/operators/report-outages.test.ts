import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { map } from 'rxjs';
import { marbles } from 'rxjs-marbles/jest';
import { reportOutages, type AttemptResult } from '../../../streams';
import { readTable } from '../../support/text-table';

const ATTEMPTS: Readonly<Record<string, AttemptResult<string>>> = {
  f: { kind: 'failed', times: 1, reason: 'refused' },
  g: { kind: 'failed', times: 10, reason: 'no answer' },
  h: { kind: 'failed', times: 10, reason: 'refused' },
  w: { kind: 'succeeded' },
};

const watch = (now: () => number) =>
  reportOutages({
    everyMs: 10,
    changeMs: 5,
    quietMs: 3,
    isSame: (a: string, b: string) => a === b,
    now,
  });

const TABLE = readTable(readFileSync(join(__dirname, 'report-outages.txt'), 'utf8'));

describe('reportOutages', () => {
  it.each(TABLE)('reports $title', ({ expected: [attempts = '', reports = '', ...said] }) => {
    marbles((m) => {
      const reports$ = m.hot(attempts, ATTEMPTS).pipe(
        watch(() => m.scheduler.now()),
        map(({ kind, failures, lastedMs, reason }) =>
          [kind, String(failures), String(lastedMs), reason].join(' '),
        ),
      );
      const until = reports.includes('|') ? undefined : `^${'-'.repeat(reports.length - 1)}!`;
      const values = said.map((line) => [line.charAt(0), line.slice(2)]);
      m.expect(reports$, until).toBeObservable(
        reports,
        Object.fromEntries(values) as Readonly<Record<string, string>>,
      );
    })();
  });

  it(
    'lets go of its source and its timers',
    marbles((m) => {
      const attempts = m.hot(' f------', ATTEMPTS);
      const began = { kind: 'began', failures: 1, lastedMs: 0, reason: 'refused' } as const;
      m.expect(attempts.pipe(watch(() => 0)), '^---!').toBeObservable('a', { a: began });
      m.expect(attempts).toHaveSubscriptions('^---!');
    }),
  );
});
