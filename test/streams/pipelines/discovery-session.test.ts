import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marbles } from 'rxjs-marbles/jest';
import type { Context } from 'rxjs-marbles/context';
import { delay, firstValueFrom, of, Subject, type Observable } from 'rxjs';
import { discoverySession, type DiscoverySession, type AckDecision } from '../../../streams';
import { readTable } from '../../support/text-table';

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

/** What `with` says above a session. */
interface Said {
  readonly handleMs?: number;
  readonly nackDelayMs?: number;
  readonly supersedes?: boolean;
  readonly random?: number;
  readonly jitter?: number;
  readonly initialMs?: number;
}

const optionsOf = ({
  handleMs = 0,
  nackDelayMs = 0,
  supersedes = false,
  random = 0.5,
  jitter = 0,
  initialMs = 4,
}: Said) => ({
  handleMs,
  nackDelayMs: () => nackDelayMs,
  supersedes: () => supersedes,
  random: () => random,
  backoff: { initialMs, maxMs: 10, factor: 1.5, jitter },
});

const TABLE = readTable(readFileSync(join(__dirname, 'discovery-sessions.txt'), 'utf8'));

describe('discoverySession', () => {
  it.each(TABLE)('$title', ({ options, expected }) => {
    marbles((m) => {
      const of = (word: string) =>
        expected
          .filter((line) => line.startsWith(`${word} `))
          .map((line) => line.slice(word.length + 1));
      const servers = of('server').map((script) => m.cold<string>(script, undefined, 'refused'));
      const { results$, log } = play(m, servers, optionsOf(options));
      m.expect(results$, of('listen')[0]).toBeObservable(of('results')[0] ?? '');
      const [connected] = of('connected');
      if (connected !== undefined && servers[0] !== undefined)
        m.expect(servers[0]).toHaveSubscriptions(connected.split(' '));
      m.flush();
      expect(log).toEqual(expected.filter((line) => /^\d/.test(line)));
    })();
  });

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
