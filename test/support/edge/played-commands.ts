import { type Subscription } from 'rxjs';
import { logRedisEvent } from '../../../src/app/store/log-store-event';
import { createOutageLog } from '../../../src/app/outage-log';
import { StoreError } from '../../../src/core/errors';
import { COUNTED, isRedisAway, withoutPlace } from '../../../src/counters/redis/store-errors';
import { eventually } from './eventually';
import { eventuallyWithin, isSiege } from './figure';
import { COLUMN, type Status } from './fault-drill';
import { CLOSES, startLyingRedis, type LyingRedis } from '../lying-redis';
import { createRecordingLogger } from '../recording-logger';
import { FORBIDDEN_KEY, FORBIDDEN_KEY_INSIDE, OF_KEYS, rightAnswer } from '../redis-answers';
import { stopRedisCounters, type RunningRedisCounters } from './redis-counters';

/** What is no error and no right answer, by its name in the table. */
const NO_ERRORS: Readonly<Record<string, string>> = {
  'what is no RESP': '?\r\n',
  'the end of the connection': CLOSES,
  nothing: '',
  'that it is a replica': '*1\r\n$5\r\nslave\r\n',
};
const [NO_RESP = '', END = '', NOTHING = '', REPLICA = ''] = Object.keys(NO_ERRORS);
export const TORN: readonly string[] = [NO_RESP, END];
export const SILENT: readonly string[] = [NOTHING];
export const NO_MASTER: readonly string[] = [REPLICA];
export const BROKEN: readonly string[] = [...TORN, ...SILENT];
/** Some proxies end a connection that sends what they do not know. */
export const ENDS: readonly string[] = [END];
export const NO_ANSWER: readonly string[] = [NO_RESP, NOTHING];

/** Silence is waited for; any other answer comes in time, also where several are played on a busy machine. */
const timeoutMsFor = (answer: string): number => (answer === NOTHING ? 300 : 1_000);

const CODES = { UNAVAILABLE: 'store_unavailable', DEADLINE_EXCEEDED: 'store_timeout' } as const;

/** A command, what the server answers to it, and what comes of each of them. One row of docs/internals/faults.md. */
export interface PlayedCommand {
  readonly command: string;
  /** Errors, or names of `NO_ERRORS`. */
  readonly answers: readonly string[];
  /** Whether these words are the command. */
  readonly is: (words: readonly string[], port: number) => boolean;
  /** The errors stand inside the answer of a script, in place of its counter. */
  readonly isInside?: boolean;
  /** Right answers of this row alone. */
  readonly besides?: (words: readonly string[], port: number) => string | undefined;
  /** The answers come from the first connection on, and not only once one is there. */
  readonly whenConnecting?: boolean;
  /** What the caller gets, where it is an error. */
  readonly sees?: Status;
  /** Who gets it, in place of a caller, or what else comes of it. */
  readonly who?: string;
  /** A line of the log. */
  readonly says?: RegExp;
  /** Hits may be counted: one more unknown outcome. */
  readonly isUnsure?: boolean;
  readonly start: (port: number, timeoutMs: number) => RunningRedisCounters;
  /** What is asked. */
  readonly act: (counters: RunningRedisCounters) => Promise<unknown>;
  /** Other commands of which the same holds. */
  readonly alike?: readonly Pick<PlayedCommand, 'is' | 'act'>[];
}

/** Rows about one command: answers, and what comes of them. */
export const rowsOf = (
  about: Omit<PlayedCommand, 'answers'>,
  ...outcomes: readonly (readonly [readonly string[], Partial<PlayedCommand>?])[]
): readonly PlayedCommand[] =>
  outcomes.map(([answers, outcome]) => ({ ...about, ...outcome, answers }));

/** A row of which nothing is logged, and one of its MOVED, which tells that a single server is one of several. */
export function splitMoved(row: PlayedCommand): readonly PlayedCommand[] {
  const [moved, others] = [true, false].map((is) =>
    row.answers.filter((answer) => answer.startsWith('MOVED') === is),
  ) as [string[], string[]];
  if (moved.length === 0 || row.says !== undefined) return [row];
  return [
    { ...row, answers: others },
    { ...row, answers: moved, says: /KVSTORE_TYPE=cluster/ },
  ];
}

/** By what the table names an answer. */
const firstWords = (answer: string): string => {
  const [first = '', second = '', third = ''] = answer.replace(COUNTED, '').split(' ');
  return first === 'ERR' || first === '@user_script:' ? `${first} ${second} ${third} …` : first;
};

/** They are about one counter: no `on_store_error` lets the caller past its limit. */
const ABOUT_KEYS = new Set<string>([...OF_KEYS, FORBIDDEN_KEY, ...FORBIDDEN_KEY_INSIDE]);

const UNKNOWN = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

/** A test whose name is the row in docs/internals/faults.md. Each server plays its share of the answers. */
function itPlays(row: PlayedCommand, servers: readonly LyingRedis[]): void {
  const { command, answers, sees, who, says, isUnsure } = row;
  const isOfKey = answers.every((each) => ABOUT_KEYS.has(each));
  const counter = isOfKey ? ', for this counter alone, under every `on_store_error`' : '';
  const sight = sees === undefined ? 'nobody' : `the caller: \`${sees}\`${counter}`;
  const cells = [
    command,
    [
      ...new Set(answers.map((each) => (each in NO_ERRORS ? each : `\`${firstWords(each)}\``))),
    ].join(', '),
    who ?? sight,
    says === undefined ? 'nothing' : `\`${says.source}\``,
    isUnsure === true ? 'counted or not' : 'not counted',
  ];
  it(cells.join(COLUMN), async () => {
    const plays = [row, ...(row.alike ?? [])].flatMap((other) =>
      answers.map((each) => ({ played: { ...row, ...other }, each })),
    );
    const shares = servers.map(async (server, first) => {
      for (const { played, each } of plays.filter((_, at) => at % servers.length === first))
        await play(played, each, server);
    });
    // To their ends, also where one fails: none plays on beside the next row.
    const ends = await Promise.allSettled(shares);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  });
}

/** A play mostly waits for a connection or a time-out. The siege judges times: there one follows the other. */
const SERVERS = isSiege ? 1 : 4;

/** The tables of a page. */
export function itPlaysAll(
  tables: readonly (readonly [name: string, rows: readonly PlayedCommand[]])[],
): void {
  for (const [name, rows] of tables)
    describe(name, () => {
      const servers: LyingRedis[] = [];
      beforeAll(async () => {
        while (servers.length < SERVERS) servers.push(await startLyingRedis());
      });
      afterEach(stopRedisCounters);
      afterAll(() => Promise.all(servers.map((server) => server.close())));
      for (const row of rows) itPlays(row, servers);
    });
}

async function play(row: PlayedCommand, each: string, server: LyingRedis): Promise<void> {
  const { besides, whenConnecting = false, sees, says, isUnsure = false } = row;
  const right = (words: readonly string[]) => besides?.(words, server.port) ?? rightAnswer(words);
  let times = 0;
  const wrong = (words: readonly string[]) => {
    if (!row.is(words, server.port)) return right(words);
    times += 1;
    return wrongAnswer(row, each, words);
  };
  server.lie = whenConnecting ? wrong : right;
  const counters = row.start(server.port, timeoutMsFor(each));
  if (!whenConnecting || sees === undefined) await counters.untilConnected();
  server.lie = wrong;
  expectError(await errorOf(row.act(counters)), each, row);
  // What may be counted is not sent again.
  if (isUnsure) expect([each, times]).toEqual([each, 1]);
  await eventually(() => {
    const lines = linesOf(counters).map(
      ({ message, fields }) => `${message} ${String(fields['reason'])}`,
    );
    if (says === undefined) expect([each, lines]).toEqual([each, []]);
    else
      expect([each, lines]).toEqual([each, expect.arrayContaining([expect.stringMatching(says)])]);
    if (says !== undefined && !(each in NO_ERRORS))
      expect(lines).toContainEqual(expect.stringContaining(withoutPlace(each)));
  });
  expect([each, Number(counters.statistics.get(UNKNOWN) ?? 0)]).toEqual([each, isUnsure ? 1 : 0]);
  server.lie = right;
  await eventuallyWithin(() => row.act(counters), { name: 'right again', belowMs: 2_500 });
  await counters.stop();
}

function wrongAnswer(
  { isInside = false }: PlayedCommand,
  each: string,
  words: readonly string[],
): string | undefined {
  if (each in NO_ERRORS) return NO_ERRORS[each];
  return isInside ? rightAnswer(words, each) : `-${each}\r\n`;
}

/** What the error is about, by which a circuit breaker and `on_store_error` go. */
function faultOf(each: string, whenConnecting: boolean): StoreError['fault'] {
  if (ABOUT_KEYS.has(each)) return 'key';
  const isStore = whenConnecting || each in NO_ERRORS || isRedisAway(each);
  return isStore ? 'store' : 'answer';
}

function expectError(
  error: unknown,
  each: string,
  { sees, whenConnecting = false }: PlayedCommand,
): void {
  if (!(error instanceof StoreError)) expect([each, error]).toEqual([each, sees]);
  else {
    const expected = [each, sees && CODES[sees], faultOf(each, whenConnecting)];
    expect([each, error.code, error.fault]).toEqual(expected);
  }
}

async function errorOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    await asked;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** What the log says of it; that connections were made, a master found, and held back by plain commands is left out. */
function linesOf({ events }: RunningRedisCounters) {
  const { logger, lines } = createRecordingLogger();
  const outages = createOutageLog({ logger, monotonicMs: () => performance.now() });
  const subscription: Subscription = outages.run$.subscribe();
  const told = events.filter(({ kind }) => !/^(?:master-changed|hold-back)/.test(kind));
  for (const event of told) logRedisEvent(logger, outages, event);
  subscription.unsubscribe();
  return lines.filter(({ level }) => level !== 'info');
}
