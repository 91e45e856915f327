import { marbles } from 'rxjs-marbles/jest';
import { firstValueFrom, Subject } from 'rxjs';
import { orderlyStop } from '../../../streams';

/** A stop that never ends, so that only virtual time passes. */
const hangs = () => new Promise<void>(() => undefined);

describe('orderlyStop', () => {
  it(
    'is late when the stop takes longer than it may',
    marbles((m) => {
      const signals$ = m.hot('--t---', { t: 'SIGTERM' });
      m.expect(orderlyStop({ signals$, stop: hangs, withinMs: 5, sameWithinMs: 1 })).toBeObservable(
        '-------(x|)',
        {
          x: 'late',
        },
      );
      m.expect(signals$).toHaveSubscriptions('^------!');
    }),
  );

  it(
    'is interrupted by a second signal, whichever it is',
    marbles((m) => {
      const signals$ = m.hot('--t-i-', { t: 'SIGTERM', i: 'SIGINT' });
      m.expect(orderlyStop({ signals$, stop: hangs, withinMs: 5, sameWithinMs: 1 })).toBeObservable(
        '----(x|)',
        {
          x: 'interrupted',
        },
      );
    }),
  );

  it(
    'takes a signal that comes right after the first for the same one',
    marbles((m) => {
      const signals$ = m.hot('--tt-t-', { t: 'SIGINT' });
      m.expect(orderlyStop({ signals$, stop: hangs, withinMs: 9, sameWithinMs: 2 })).toBeObservable(
        '-----(x|)',
        {
          x: 'interrupted',
        },
      );
    }),
  );

  it('stops once, with the first signal, and says when that is over', async () => {
    const signalsSubject = new Subject<string>();
    const stops: string[] = [];
    const stop = (signal: string) => {
      stops.push(signal);
      return Promise.resolve();
    };
    const end = firstValueFrom(
      orderlyStop({ signals$: signalsSubject, stop, withinMs: 1_000, sameWithinMs: 300 }),
    );
    signalsSubject.next('SIGHUP');
    expect(await end).toBe('stopped');
    expect(stops).toEqual(['SIGHUP']);
  });
});
