import { of } from 'rxjs';
import { marbles } from 'rxjs-marbles/jest';
import { healthSignals } from '../../../../src/app/observe/health';
import type { Lifecycle } from '../../../../src/app/process/run-process';

const FLAGS = { t: true, f: false };
const STATES: Readonly<Record<string, Lifecycle>> = { s: 'serving', d: 'draining', e: 'stopped' };
const NOTHING_NEEDED = {
  needsConfiguration: false,
  needsStoreConnection: false,
  needsEqualKeys: false,
  drainDelayMs: 0,
};
const status = (...down: readonly string[]) => ({ serving: down.length === 0, down });

describe('health', () => {
  it(
    'starts when the rules were read once and each store was reached once, and outlives both',
    marbles((m) => {
      const rulesRead$ = m.hot('   f-t--------', FLAGS);
      const store$ = m.hot('       f---tf-----', FLAGS);
      const perSecond$ = m.hot('   f-----t-f--', FLAGS);
      const lifecycle$ = m.hot('   s--------de', STATES);
      const expected = '           (xa)--b--c-';
      const health$ = healthSignals(
        {
          stores: new Map([
            ['store', store$],
            ['per-second store', perSecond$],
          ]),
          rules$: of(undefined),
          rulesRead$,
          lifecycle$,
        },
        NOTHING_NEEDED,
      );
      m.expect(health$).toBeObservable(expected, {
        x: status('start', 'termination'),
        a: status('start'),
        b: status(),
        c: status('termination'),
      });
    }),
  );

  it.each([
    [true, ['keys']],
    [false, []],
  ])('is down while secret keys differ, where they must be equal (%s)', (needsEqualKeys, down) => {
    marbles((m) => {
      const health$ = healthSignals(
        {
          stores: new Map(),
          rules$: of(undefined),
          rulesRead$: of(true),
          lifecycle$: of('serving' as const),
          keysAgree$: of(false),
        },
        { ...NOTHING_NEEDED, needsEqualKeys },
      );
      m.expect(health$).toBeObservable('(tx|)', {
        t: status(...down, 'termination'),
        x: status(...down),
      });
    })();
  });
});
