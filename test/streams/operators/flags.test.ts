import { marbles } from 'rxjs-marbles/jest';
import { eachTrueOnce, firstTrueOrTimeout } from '../../../streams';

const flags = { t: true, f: false };

describe('eachTrueOnce', () => {
  it(
    'is true, for good, from the moment at which each flag has been true once',
    marbles((m) => {
      const one = m.hot('  -f--t-f----', flags);
      const other = m.hot('-f-----t-f-', flags);
      const expected = '   f---f--(t|)';
      m.expect(eachTrueOnce([one, other])).toBeObservable(expected, flags);
    }),
  );
});

describe('firstTrueOrTimeout', () => {
  it(
    'ends with the first true',
    marbles((m) => {
      const flag = m.hot('  f-t---', flags);
      m.expect(firstTrueOrTimeout(flag, 5)).toBeObservable('--(x|)', { x: true });
      m.expect(flag).toHaveSubscriptions('           ^-!');
    }),
  );

  it(
    'ends after its time when there is none, and unsubscribes from the flag',
    marbles((m) => {
      const flag = m.hot('  f-----t', flags);
      m.expect(firstTrueOrTimeout(flag, 5)).toBeObservable('-----(x|)', { x: 0 });
      m.expect(flag).toHaveSubscriptions('           ^----!');
    }),
  );
});
