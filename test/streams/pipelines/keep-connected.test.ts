import { marbles } from 'rxjs-marbles/jest';
import { NEVER, type Observable } from 'rxjs';
import { keepConnected, type KeepConnected, type LostConnection } from '../../../streams';

const lost = (goodMs: number, hasServed = false): LostConnection => ({ goodMs, hasServed });
const backoff = { initialMs: 2, maxMs: 5, factor: 2, jitter: 0 };

function keep(
  connect: KeepConnected['connect'],
  more: Partial<KeepConnected> & Pick<KeepConnected, 'now'>,
): Observable<never> {
  return keepConnected({
    connect,
    backoff,
    steadyMs: 3,
    servedWaitMs: 1,
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
      const kept = keep(() => source as Observable<LostConnection>, {
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
      const good = m.cold('---(g|)', { g: lost(3) });
      const brief = m.cold('-(b|)', { b: lost(1) });
      const order = [good, brief, good];
      let next = 0;
      const kept = keep(() => order[next++] ?? NEVER, {
        now: () => m.scheduler.now(),
      });
      m.expect(kept, '^---------!').toBeObservable('-');
      m.expect(good).toHaveSubscriptions(['^--!', '------^--!']);
      m.expect(brief).toHaveSubscriptions('---^!');
    }),
  );

  it(
    'connects again soon after a short connection that had served, and then waits as ever',
    marbles((m) => {
      const served = m.cold('-(s|)', { s: lost(1, true) });
      const refused = m.cold<LostConnection>('#');
      const order = [served, served, refused];
      let next = 0;
      const kept = keep(() => order[next++] ?? refused, { now: () => m.scheduler.now() });
      m.expect(kept, '^-----------!').toBeObservable('-');
      m.expect(served).toHaveSubscriptions(['^!', '--^!']);
      m.expect(refused).toHaveSubscriptions(['----(^!)', '------(^!)', '----------(^!)']);
    }),
  );

  it(
    'gives up when no first connection comes in time, and tries as long as one may begin within it',
    marbles((m) => {
      const source = m.cold('-#');
      let ends = 0;
      const kept = keep(() => source as Observable<LostConnection>, {
        now: () => 1_000 + m.scheduler.now(),
        giveUpAfterMs: 3,
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
      const good = m.cold('(g|)', { g: lost(9) });
      const refused = m.cold('#');
      let first = true;
      const connect = (): Observable<LostConnection> => {
        const now = first ? good : refused;
        first = false;
        return now as Observable<LostConnection>;
      };
      const kept = keep(connect, { now: () => m.scheduler.now(), giveUpAfterMs: 1 });
      m.expect(kept, '^--------!').toBeObservable('-');
    }),
  );
});
