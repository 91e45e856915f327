import { marbles } from 'rxjs-marbles/jest';
import { eachTrueOnce } from '../../../streams';

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
