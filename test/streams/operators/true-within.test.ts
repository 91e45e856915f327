import { marbles } from 'rxjs-marbles/jest';
import { trueWithin } from '../../../streams';

const flags = { t: true, f: false };

describe('trueWithin', () => {
  it(
    'ends with the first true',
    marbles((m) => {
      const flag = m.hot('  f-t---', flags);
      m.expect(trueWithin(flag, 5)).toBeObservable('--(x|)', { x: true });
      m.expect(flag).toHaveSubscriptions('           ^-!');
    }),
  );

  it(
    'ends after its time when there is none, and lets go of the flag',
    marbles((m) => {
      const flag = m.hot('  f-----t', flags);
      m.expect(trueWithin(flag, 5)).toBeObservable('-----(x|)', { x: 0 });
      m.expect(flag).toHaveSubscriptions('           ^----!');
    }),
  );
});
