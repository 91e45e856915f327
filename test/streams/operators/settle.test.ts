import { marbles } from 'rxjs-marbles/jest';
import { settle } from '../../../streams';

describe('settle', () => {
  it(
    'hands a burst on once, when nothing came for the quiet time',
    marbles((m) => {
      const source = m.hot('  -a-b-c---------d------');
      const expected = '      --------c---------d---';
      const settled = source.pipe(settle({ quietMs: 3, maxMs: 20 }));
      m.expect(settled).toBeObservable(expected);
    }),
  );

  it(
    'does not let a burst that never ends postpone it beyond the maximum',
    marbles((m) => {
      const source = m.hot('  -a-b-c-d-e-f-g-h-------');
      const expected = '      ---------e--------h----';
      const settled = source.pipe(settle({ quietMs: 3, maxMs: 8 }));
      m.expect(settled).toBeObservable(expected);
    }),
  );

  it(
    'hands on what is left when the source completes and subscribes to it once',
    marbles((m) => {
      const source = m.cold('--a-b|');
      const settled = source.pipe(settle({ quietMs: 3, maxMs: 20 }));
      m.expect(settled).toBeObservable('-----(b|)');
      m.expect(source).toHaveSubscriptions('^----!');
    }),
  );

  it(
    'passes an error of the source on',
    marbles((m) => {
      const settled = m.cold('-a-#').pipe(settle({ quietMs: 3, maxMs: 20 }));
      m.expect(settled).toBeObservable('---#');
    }),
  );
});
