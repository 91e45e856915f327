import { marbles } from 'rxjs-marbles/jest';
import { eachTrueOnce, firstTrueOrTimeout, onceTrue } from '../../../streams';

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

  it(
    'stays false when a flag ends without having been true',
    marbles((m) => {
      const flag = m.hot('  -f-|', flags);
      m.expect(eachTrueOnce([flag])).toBeObservable('f--(f|)', flags);
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

describe('onceTrue', () => {
  it(
    'starts the other stream at the first true, once',
    marbles((m) => {
      const flag = m.hot('  f-t-f-t-', flags);
      const other = m.cold('  a-b|');
      m.expect(onceTrue(flag, other)).toBeObservable('--a-b|');
      m.expect(flag).toHaveSubscriptions('           ^-!');
      m.expect(other).toHaveSubscriptions('          --^--!');
    }),
  );

  it(
    'ends without it when the flag ends before',
    marbles((m) => {
      const flag = m.hot('  f---|', flags);
      const other = m.cold('a');
      m.expect(onceTrue(flag, other)).toBeObservable('----|');
      m.expect(other).toHaveSubscriptions([]);
    }),
  );
});
