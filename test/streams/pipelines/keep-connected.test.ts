import { marbles } from 'rxjs-marbles/jest';
import { type Observable } from 'rxjs';
import { keepConnected, type KeepConnected } from '../../../streams';

const backoff = { initialMs: 2, maxMs: 5, factor: 2, jitter: 0 };

function keep(
  connect: KeepConnected['connect'],
  more: Partial<KeepConnected> & Pick<KeepConnected, 'now'>,
): Observable<never> {
  return keepConnected({
    connect,
    backoff,
    steadyMs: 3,
    giveUpAfterMs: 0,
    random: () => 0.5,
    onFailure: () => undefined,
    toFinalError: () => new Error('gave up'),
    onEnd: () => undefined,
    ...more,
  });
}

describe('keepConnected', () => {
  it(
    'waits longer after every failure, up to the limit',
    marbles((m) => {
      const failures: [number, number][] = [];
      const source = m.cold('#');
      const kept = keep(() => source as Observable<number>, {
        now: () => m.scheduler.now(),
        onFailure: (_error, count, nextMs) => failures.push([count, nextMs]),
      });
      m.expect(kept, '^----------------!').toBeObservable('-');
      m.expect(source).toHaveSubscriptions([
        '(^!)',
        '--(^!)',
        '------(^!)',
        '-----------(^!)',
        '----------------(^!)',
      ]);
      m.flush();
      expect(failures.slice(0, 3)).toEqual([
        [1, 2],
        [2, 4],
        [3, 5],
      ]);
    }),
  );

  it(
    'connects again at once after a connection that was good for long, with a wait after a short one',
    marbles((m) => {
      const good = m.cold('---(g|)', { g: 3 });
      const brief = m.cold('-(b|)', { b: 1 });
      const order = [good, brief, good];
      let next = 0;
      const kept = keep(() => order[next++] as Observable<number>, {
        now: () => m.scheduler.now(),
      });
      m.expect(kept, '^---------!').toBeObservable('-');
      m.expect(good).toHaveSubscriptions(['^--!', '------^--!']);
      m.expect(brief).toHaveSubscriptions('---^!');
    }),
  );

  it(
    'gives up when no first connection comes in time',
    marbles((m) => {
      const source = m.cold('-#');
      let ends = 0;
      const kept = keep(() => source as Observable<number>, {
        now: () => m.scheduler.now(),
        giveUpAfterMs: 4,
        onEnd: () => (ends += 1),
      });
      m.expect(kept).toBeObservable('----#', undefined, new Error('gave up'));
      m.flush();
      expect(ends).toBe(1);
    }),
  );

  it(
    'never gives up once there was a connection',
    marbles((m) => {
      const good = m.cold('(g|)', { g: 9 });
      const lost = m.cold('#');
      let first = true;
      const connect = (): Observable<number> => {
        const now = first ? good : lost;
        first = false;
        return now as Observable<number>;
      };
      const kept = keep(connect, { now: () => m.scheduler.now(), giveUpAfterMs: 1 });
      m.expect(kept, '^--------!').toBeObservable('-');
    }),
  );
});
