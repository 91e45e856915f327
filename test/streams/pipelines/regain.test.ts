import { marbles } from 'rxjs-marbles/jest';
import { regain } from '../../../streams';

const backoff = { initialMs: 2, maxMs: 4, factor: 2, jitter: 0 };
const IS = { n: false, y: true };

describe('regain', () => {
  it(
    'asks after each loss, later and later, until it is there again',
    marbles((m) => {
      const isLost$ = m.hot(' -y-y----------y-n-----', IS);
      const no$ = m.cold('-(n|)', IS);
      const yes$ = m.cold('(y|)', IS);
      const answers = [no$, no$, yes$, yes$];
      const regainedAt: number[] = [];
      const kept = regain({
        isLost$,
        ask: () => answers.shift() ?? no$,
        backoff,
        random: () => 0.5,
        onRegained: () => regainedAt.push(m.scheduler.now()),
      });
      m.expect(kept).toBeObservable('----------------------');
      m.flush();
      // Asked at 3, 8 and 13, then two frames after the second loss.
      expect(regainedAt).toEqual([13, 16]);
      m.expect(no$).toHaveSubscriptions(['---^!', '--------^!']);
    }),
  );

  it(
    'asks no more once nobody listens',
    marbles((m) => {
      const isLost$ = m.hot('y---------', IS);
      const no$ = m.cold('(n|)', IS);
      const onRegained = () => undefined;
      const kept = regain({ isLost$, ask: () => no$, backoff, random: () => 0.5, onRegained });
      m.expect(kept, '^---!').toBeObservable('-----');
      m.expect(no$).toHaveSubscriptions('--(^!)');
    }),
  );
});
