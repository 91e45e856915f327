import { marbles } from 'rxjs-marbles/jest';
import { Subject, map, of, tap } from 'rxjs';
import { exhaustLatest } from '../../../streams';

describe('exhaustLatest', () => {
  it(
    'takes up only the newest of the values that came while one was worked on',
    marbles((m) => {
      const source = m.hot('  -a-b-c--------d-----');
      const work = m.cold('    ------x|            ');
      const expected = '      -------a------c------d';
      const result = source.pipe(exhaustLatest((value) => work.pipe(map(() => value))));
      m.expect(result, '      ^---------------------!').toBeObservable(expected);
      m.expect(work).toHaveSubscriptions([
        '-^------!',
        '--------^------!',
        '---------------^------!',
      ]);
    }),
  );

  it(
    'works on every value when the work is done at once',
    marbles((m) => {
      const source = m.hot('  -a-(bc)-d|');
      const result = source.pipe(exhaustLatest((value) => of(value)));
      m.expect(result).toBeObservable('-a-(bc)-d|');
    }),
  );

  it(
    'completes after the last work when the source is complete',
    marbles((m) => {
      const source = m.cold(' ab|');
      const work = m.cold('   ---x|');
      const result = source.pipe(exhaustLatest((value) => work.pipe(map(() => value))));
      m.expect(result).toBeObservable('---a---b|');
    }),
  );

  it(
    'cancels the work on teardown',
    marbles((m) => {
      const work = m.cold('    ------x');
      const result = m.hot('  -a------').pipe(exhaustLatest(() => work));
      m.expect(result, '      ^---!').toBeObservable('-----');
      m.expect(work).toHaveSubscriptions('-^--!');
    }),
  );

  it('takes up a value that the work itself brings about', () => {
    const sourceSubject = new Subject<number>();
    const seen: number[] = [];
    sourceSubject
      .pipe(
        exhaustLatest((value) =>
          of(value).pipe(
            tap(() => {
              if (value < 3) sourceSubject.next(value + 1);
            }),
          ),
        ),
      )
      .subscribe((value) => seen.push(value));
    sourceSubject.next(1);
    expect(seen).toEqual([1, 2, 3]);
  });
});
