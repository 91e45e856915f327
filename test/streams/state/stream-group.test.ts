import { defer, NEVER, of, tap } from 'rxjs';
import { marbles } from 'rxjs-marbles/jest';
import { createStreamGroup } from '../../../streams';

describe('a group of streams', () => {
  it(
    'runs each from when it joins until it completes, and ends after the last',
    marbles((m) => {
      const group = createStreamGroup();
      const first = m.cold('a----|');
      const later = m.cold('--b-----|');
      group.add(first);
      m.expect(group.run$, '^').toBeObservable('----------|');
      m.expect(
        m.cold('--(j|)').pipe(
          tap(() => {
            group.add(later);
          }),
        ),
      ).toBeObservable('--(j|)');
      m.expect(
        m.cold('---(c|)').pipe(
          tap(() => {
            group.close();
          }),
        ),
      ).toBeObservable('---(c|)');
      m.expect(first).toHaveSubscriptions('^----!');
      m.expect(later).toHaveSubscriptions('--^-------!');
    }),
  );

  it(
    'fails with the first stream that fails, and ends the others',
    marbles((m) => {
      const group = createStreamGroup();
      const good = m.cold('-');
      group.add(good);
      group.add(m.cold('--#'));
      m.expect(group.run$).toBeObservable('--#');
      m.expect(good).toHaveSubscriptions('^-!');
    }),
  );

  it('runs a stream that another adds while it starts', () => {
    const group = createStreamGroup();
    const started: string[] = [];
    const named = (name: string, act: () => void = () => undefined) =>
      defer(() => {
        started.push(name);
        act();
        return of(name);
      });
    group.add(
      named('one', () => {
        group.add(named('two'));
      }),
    );
    group.run$.subscribe();
    expect(started).toEqual(['one', 'two']);
  });

  it('starts nothing while nobody runs it, and keeps no stream that has completed', () => {
    const group = createStreamGroup();
    let starts = 0;
    const once$ = defer(() => {
      starts += 1;
      return of(1);
    });
    group.add(once$);
    expect(starts).toBe(0);
    group.add(NEVER);
    group.run$.subscribe().unsubscribe();
    group.run$.subscribe().unsubscribe();
    expect(starts).toBe(1);
  });
});
