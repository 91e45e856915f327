import { marbles } from 'rxjs-marbles/jest';
import type { Context } from 'rxjs-marbles/context';
import { delay, firstValueFrom, of, Subject, type Observable } from 'rxjs';
import { discoverySession, type DiscoverySession, type AckDecision } from '../../../streams';

type Session = DiscoverySession<string, string, string>;

/** What was sent and noted, each with its time: `5 ack-a`. */
interface Played {
  readonly results$: Observable<string>;
  readonly log: string[];
}

/**
 * A session over scripted connections; the last one is used again and again. A capital letter is a bad
 * message, `x` is none at all, and handling takes `handleMs`.
 */
function play(
  m: Context,
  scripts: readonly Observable<string>[],
  more: Partial<Session> & { readonly handleMs?: number; readonly nackDelayMs?: () => number } = {},
): Played {
  const log: string[] = [];
  const note = (text: string) => log.push(`${String(m.scheduler.now())} ${text}`);
  let opened = 0;
  let accepted = '';
  const conclude = (messages: readonly string[]): AckDecision<string, string> => {
    const isBad = (message: string) => message !== message.toLowerCase();
    for (const message of messages) if (!isBad(message)) accepted = message;
    return {
      results: messages,
      answers: messages.map((message) => `${isBad(message) ? 'nack' : 'ack'}-${message}`),
      nackDelayMs: messages.every(isBad) ? (more.nackDelayMs?.() ?? 0) : 0,
    };
  };
  const results$ = discoverySession<string, string, string>({
    open: ({ message, lost }) => {
      const script = scripts[Math.min(opened, scripts.length - 1)] as Observable<string>;
      opened += 1;
      const reading = script.subscribe({
        next: message,
        error: lost,
        complete: () => {
          lost('ended');
        },
      });
      return {
        send: note,
        close: () => {
          reading.unsubscribe();
        },
      };
    },
    initialRequest: () => `hello-${accepted}`,
    handle: (messages) => of(conclude(messages)).pipe(delay(more.handleMs ?? 0)),
    supersedes: () => false,
    isChanged: (message) => message === message.toLowerCase(),
    isGood: (message) => message !== 'x',
    firstRetryMs: 3,
    backoff: { initialMs: 4, maxMs: 10, factor: 1.5, jitter: 0 },
    random: () => 0.5,
    onLost: ({ reason, failures, nextAttemptMs }) => {
      note(`lost ${String(reason)} ${String(failures)} ${String(nextAttemptMs)}`);
    },
    ...more,
  });
  return { results$, log };
}

describe('discoverySession', () => {
  it(
    'sends the initial request, handles what comes, and answers after the result is known',
    marbles((m) => {
      const server = m.cold('-a---B---');
      const { results$, log } = play(m, [server], { handleMs: 2 });
      m.expect(results$, '^--------!').toBeObservable('---a---B-');
      m.expect(server).toHaveSubscriptions('^--------!');
      m.flush();
      expect(log).toEqual(['0 hello-', '3 ack-a', '7 nack-B']);
    }),
  );

  it(
    'handles all that arrived during one turn together, in order',
    marbles((m) => {
      const server = m.cold('-ab-c-----');
      const { results$, log } = play(m, [server], { handleMs: 5 });
      m.expect(results$, '^-----------!').toBeObservable('------a----(bc)');
      m.flush();
      expect(log).toEqual(['0 hello-', '6 ack-a', '11 ack-b', '11 ack-c']);
    }),
  );

  it(
    'leaves out what was superseded while it waited',
    marbles((m) => {
      const server = m.cold('-abcd-----');
      const { results$, log } = play(m, [server], { handleMs: 5, supersedes: () => true });
      m.expect(results$, '^------------!').toBeObservable('------a----d-');
      m.flush();
      expect(log).toEqual(['0 hello-', '6 ack-a', '11 ack-d']);
    }),
  );

  it(
    'leaves a server that goes on sending while nothing is handled, and connects again',
    marbles((m) => {
      const flood = m.cold(`(${'a'.repeat(1_002)})`);
      const { results$, log } = play(m, [flood, m.cold('-----')], { handleMs: 9 });
      m.expect(results$, '^--!').toBeObservable('---');
      m.flush();
      expect(log).toEqual([
        '0 hello-',
        '0 lost Error: the server sent 1000 messages that wait to be handled 1 4',
      ]);
    }),
  );

  it(
    'tries the first connection again at a fixed interval, however often it fails',
    marbles((m) => {
      const refused = m.cold<string>('-#', undefined, 'refused');
      const { results$, log } = play(m, [refused]);
      m.expect(results$, '^---------!').toBeObservable('----------');
      m.expect(refused).toHaveSubscriptions(['^!', '----^!', '--------^!']);
      m.flush();
      expect(log).toEqual([
        '0 hello-',
        '1 lost refused 1 3',
        '4 hello-',
        '5 lost refused 2 3',
        '8 hello-',
        '9 lost refused 3 3',
      ]);
    }),
  );

  it(
    'waits longer after each loss in a row once there was a good message, up to the limit',
    marbles((m) => {
      const good = m.cold('(a|)');
      const refused = m.cold<string>('#', undefined, 'refused');
      const { results$, log } = play(m, [good, refused]);
      m.expect(results$, '^-------------------------------!').toBeObservable('a');
      m.flush();
      expect(log.filter((line) => line.includes('lost'))).toEqual([
        '0 lost ended 1 4',
        '4 lost refused 2 6',
        '10 lost refused 3 9',
        '19 lost refused 4 10',
        '29 lost refused 5 10',
      ]);
    }),
  );

  it(
    'starts the backoff anew with a good message, not with another one',
    marbles((m) => {
      const good = m.cold('(a|)');
      const useless = m.cold('(x|)');
      const { results$, log } = play(m, [good, useless, useless, good, useless]);
      m.expect(results$, '^--------------------------!').toBeObservable('a---x-----x--------a---x');
      m.flush();
      expect(log.filter((line) => line.includes('lost'))).toEqual([
        '0 lost ended 1 4',
        '4 lost ended 2 6',
        '10 lost ended 3 9',
        '19 lost ended 1 4',
        '23 lost ended 2 6',
      ]);
    }),
  );

  it.each([
    [0, 2],
    [0.5, 4],
    [0.75, 5],
  ])('spreads the waits by the jitter: random %s makes 4 ms %s', (random, expected) => {
    marbles((m) => {
      const { results$, log } = play(m, [m.cold('(a|)')], {
        random: () => random,
        backoff: { initialMs: 4, maxMs: 10, factor: 1.5, jitter: 0.5 },
      });
      m.expect(results$, '^!').toBeObservable('a');
      m.flush();
      expect(log).toContain(`0 lost ended 1 ${String(expected)}`);
    })();
  });

  it(
    'never waits longer than the limit, jitter included',
    marbles((m) => {
      const { results$, log } = play(m, [m.cold('(a|)')], {
        random: () => 0.99,
        backoff: { initialMs: 10, maxMs: 10, factor: 1.5, jitter: 0.5 },
      });
      m.expect(results$, '^!').toBeObservable('a');
      m.flush();
      expect(log).toContain('0 lost ended 1 10');
    }),
  );

  it(
    'says what it accepted in the initial request of the next connection',
    marbles((m) => {
      const first = m.cold('a-B|');
      const second = m.cold('-b---');
      const { results$, log } = play(m, [first, second]);
      m.expect(results$, '^---------!').toBeObservable('a-B-----b-');
      m.flush();
      expect(log).toEqual([
        '0 hello-',
        '0 ack-a',
        '2 nack-B',
        '3 lost ended 1 4',
        '7 hello-a',
        '8 ack-b',
      ]);
    }),
  );

  it(
    'finishes what had arrived before a loss, before it connects again, and answers none of it',
    marbles((m) => {
      const first = m.cold('a-b|');
      const second = m.cold('----');
      const { results$, log } = play(m, [first, second], { handleMs: 5 });
      m.expect(results$, '^---------------!').toBeObservable('-----a----b-----');
      m.expect(second).toHaveSubscriptions('--------------^-!');
      m.flush();
      expect(log).toEqual(['0 hello-', '3 lost ended 1 4', '14 hello-b']);
    }),
  );

  it(
    'holds an answer back for as long as it is told',
    marbles((m) => {
      const server = m.cold('A------');
      const { results$, log } = play(m, [server], { nackDelayMs: () => 4 });
      m.expect(results$, '^-----!').toBeObservable('A-----');
      m.flush();
      expect(log).toEqual(['0 hello-', '4 nack-A']);
    }),
  );

  it(
    'takes up no more of the same during a hold, and answers each in its turn',
    marbles((m) => {
      const server = m.cold('A-A----');
      const { results$, log } = play(m, [server], { nackDelayMs: () => 4 });
      m.expect(results$, '^---------!').toBeObservable('A---A----');
      m.flush();
      expect(log).toEqual(['0 hello-', '4 nack-A', '8 nack-A']);
    }),
  );

  it(
    'ends a delay with a changed message and drops its answer',
    marbles((m) => {
      const server = m.cold('A-b----');
      const { results$, log } = play(m, [server], { nackDelayMs: () => 9 });
      m.expect(results$, '^-----------!').toBeObservable('A-b-------');
      m.flush();
      expect(log).toEqual(['0 hello-', '2 ack-b']);
    }),
  );

  it(
    'delays nothing when a changed message came before the delay',
    marbles((m) => {
      const server = m.cold('Ab----');
      const { results$, log } = play(m, [server], { handleMs: 2, nackDelayMs: () => 9 });
      m.expect(results$, '^-----------!').toBeObservable('--A-b-');
      m.flush();
      expect(log).toEqual(['0 hello-', '4 ack-b']);
    }),
  );

  it(
    'ends a hold with the connection',
    marbles((m) => {
      const first = m.cold('A-|');
      const second = m.cold('--b');
      const { results$, log } = play(m, [first, second], { nackDelayMs: () => 90 });
      m.expect(results$, '^---------!').toBeObservable('A-------b-');
      m.flush();
      expect(log).toEqual(['0 hello-', '2 lost ended 1 4', '6 hello-', '8 ack-b']);
    }),
  );

  it(
    'closes the connection, the handling and the wait on teardown',
    marbles((m) => {
      const server = m.cold('-a--------');
      const handling = m.cold<AckDecision<string, string>>('----------');
      const { results$, log } = play(m, [server], { handle: () => handling });
      m.expect(results$, '^---!').toBeObservable('----');
      m.expect(server).toHaveSubscriptions('^---!');
      m.expect(handling).toHaveSubscriptions('-^--!');
      const waiting = play(m, [m.cold<string>('#', undefined, 'refused')]);
      m.expect(waiting.results$, '^-!').toBeObservable('--');
      m.flush();
      expect([...log, ...waiting.log]).toEqual(['0 hello-', '0 hello-', '0 lost refused 1 3']);
    }),
  );
});

it('emits some dozens of results in a turn of the event loop, then sends the answers so, in the order of the messages', async () => {
  const sent: number[] = [];
  let inTurn = 0;
  let most = 0;
  const allSubject = new Subject<void>();
  const counting = (): void => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (sent.length === 500) allSubject.next();
    else setImmediate(counting);
  };
  const results: number[] = [];
  const session$ = discoverySession<number, number, number>({
    open: ({ message }) => {
      setImmediate(() => {
        for (let at = 0; at < 500; at += 1) message(at);
        setImmediate(counting);
      });
      return {
        send(answer) {
          if (answer < 0) return;
          inTurn += 1;
          sent.push(answer);
        },
        close: () => undefined,
      };
    },
    initialRequest: () => -1,
    handle: (messages) =>
      of({ results: messages, answers: messages, nackDelayMs: 0 }).pipe(delay(1)),
    supersedes: () => false,
    isChanged: () => true,
    isGood: () => true,
    firstRetryMs: 3,
    backoff: { initialMs: 4, maxMs: 10, factor: 1.5, jitter: 0 },
    random: () => 0.5,
    onLost: () => undefined,
  });
  const following = session$.subscribe((result) => {
    inTurn += 1;
    results.push(result);
  });
  await firstValueFrom(allSubject);
  following.unsubscribe();
  expect(results).toHaveLength(500);
  expect(sent).toEqual(results);
  // The last results and the first answers share a turn.
  expect(most).toBeLessThanOrEqual(64);
});
