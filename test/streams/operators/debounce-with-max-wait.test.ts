import { marbles } from 'rxjs-marbles/jest';
import { debounceWithMaxWait } from '../../../streams';

describe('debounceWithMaxWait', () => {
  it(
    'hands a burst on once, when nothing came for the quiet time',
    marbles((m) => {
      const source = m.hot('  -a-b-c---------d------');
      const expected = '      --------c---------d---';
      const debounced = source.pipe(debounceWithMaxWait({ quietMs: 3, maxMs: 20 }));
      m.expect(debounced).toBeObservable(expected);
    }),
  );

  it(
    'does not let a burst that never ends postpone it beyond the maximum',
    marbles((m) => {
      const source = m.hot('  -a-b-c-d-e-f-g-h-------');
      const expected = '      ---------e--------h----';
      const debounced = source.pipe(debounceWithMaxWait({ quietMs: 3, maxMs: 8 }));
      m.expect(debounced).toBeObservable(expected);
    }),
  );

  it(
    'hands on what is left when the source completes and subscribes to it once',
    marbles((m) => {
      const source = m.cold('--a-b|');
      const debounced = source.pipe(debounceWithMaxWait({ quietMs: 3, maxMs: 20 }));
      m.expect(debounced).toBeObservable('-----(b|)');
      m.expect(source).toHaveSubscriptions('^----!');
    }),
  );

  it(
    'passes an error of the source on',
    marbles((m) => {
      const debounced = m.cold('-a-#').pipe(debounceWithMaxWait({ quietMs: 3, maxMs: 20 }));
      m.expect(debounced).toBeObservable('---#');
    }),
  );
});
