import { NO_INTEGER } from '../../../src/counters/redis/store-errors';
import { SCRIPTS } from '../../../src/counters/redis/lua';
import { ALGORITHM_SCRIPTS } from '../../../src/counters/redis/lua-algorithms';
import { startDrill, type Drill } from '../../support/fault-drill';
import { itAnswers, playAnswers, type AnswerFault } from '../../support/fault-table';
import { startLyingRedis, type LyingRedis } from '../../support/lying-redis';

jest.setTimeout(60_000);

/** Errors of a server that is there and does not do what it is asked. */
const REFUSALS = [
  "OOM command not allowed when used memory > 'maxmemory'.",
  'NOREPLICAS Not enough good replicas to write.',
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  'CLUSTERDOWN The cluster is down',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'MOVED 42 127.0.0.1:1',
  'ASK 42 127.0.0.1:1',
  'UNBLOCKED client unblocked',
  'WRONGPASS invalid username-password pair',
  'ERR something went wrong',
] as const;

/** Errors of a server that is not the one that counts. */
const WRONG_SERVER = [
  "READONLY You can't write against a read only replica.",
  'LOADING Redis is loading the dataset in memory',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'NOAUTH Authentication required.',
] as const;

const NO_PERMISSION = "NOPERM User default has no permissions to run the 'x' command";
const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
const OF_KEYS = [WRONG_TYPE, NO_INTEGER, 'ERR increment or decrement would overflow'] as const;

/** Errors of a server that takes no scripts. */
const NO_SCRIPTS = [
  NO_PERMISSION,
  "ERR unknown command 'evalsha'",
  "CROSSSLOT Keys in request don't hash to the same slot",
] as const;

/** What a user may not do inside a script, in the words of different servers, and refusals in those of old ones. */
const INSIDE = [
  ...REFUSALS.slice(0, 3),
  NO_PERMISSION,
  "ERR The user executing the script can't run this command or subcommand",
  '@user_script: 7: -OOM command not allowed',
] as const;

type Answering = 'command' | 'inside';

interface Row extends AnswerFault {
  /** The rule that is asked. */
  readonly key: string;
  /** The command that gets the error; of a script, a text inside its answer may be the error. */
  readonly of: string;
  readonly where: Answering;
}

const FAILING = { sees: 'UNAVAILABLE', says: /did not count/, counts: ['redis_error'] } as const;
const UNSEEN = { sees: undefined, says: undefined, counts: [] } as const;
/** It is about one counter, so that no policy lets the caller past its limit. */
const KEY_FAILING = { ...FAILING, says: /fault=key/ } as const;

/** What holds for a command whatever it is for. */
const rowsOf = (command: string, key: string, of: string): readonly Row[] => {
  const about = { command, key, of, where: 'command', ...FAILING } as const;
  return [
    { ...about, answers: REFUSALS, well: 'atOnce' },
    { ...about, answers: WRONG_SERVER, well: 'reconnected' },
    { ...about, ...KEY_FAILING, answers: OF_KEYS, well: 'atOnce' },
  ];
};

const insideRowsOf = (command: string, key: string): readonly Row[] => {
  const about = { command, key, of: 'evalsha', where: 'inside', ...FAILING } as const;
  return [
    { ...about, answers: INSIDE, well: 'atOnce' },
    {
      ...about,
      answers: [...WRONG_SERVER.slice(0, 1), '@user_script: 7: -READONLY no'],
      well: 'reconnected',
    },
    { ...about, ...KEY_FAILING, answers: OF_KEYS, well: 'atOnce' },
  ];
};

const scriptRowsOf = (
  name: string,
  key: string,
  refusals: readonly string[] = NO_SCRIPTS,
): readonly Row[] => {
  const command = `\`EVALSHA\` of ${name}`;
  const about = { command, key, of: 'evalsha', where: 'command' } as const;
  const needsScripts = key !== 'user';
  return [
    ...rowsOf(command, key, 'evalsha'),
    { ...about, ...UNSEEN, answers: ['NOSCRIPT No matching script.'], well: 'atOnce' },
    needsScripts
      ? {
          ...about,
          ...FAILING,
          says: /needs scripts/,
          isReworded: true,
          answers: refusals,
          well: 'askedAgain',
        }
      : {
          ...about,
          ...UNSEEN,
          answers: refusals,
          well: 'atOnce',
          also: 'plain commands are used',
        },
  ];
};

const half = { sees: 'UNAVAILABLE', says: /counted the hits/ } as const;
const HALF_DONE = { ...half, counts: ['redis_error', 'store_unknown_outcome'] } as const;

const BY_SCRIPT: readonly Row[] = [
  ...scriptRowsOf('fixed windows', 'user'),
  ...insideRowsOf('`INCRBY` inside it', 'user'),
  {
    command: '`EXPIRE` inside it',
    key: 'user',
    of: 'evalsha',
    where: 'inside',
    ...HALF_DONE,
    answers: [`COUNTED ${NO_PERMISSION}`],
    well: 'atOnce',
  },
  ...scriptRowsOf('`gcra`', 'bucket'),
  ...insideRowsOf('`TIME`, `GET`, `PSETEX` or `DEL` inside it', 'bucket'),
  ...scriptRowsOf('`sliding_window`', 'slid', [NO_PERMISSION]),
  ...insideRowsOf('`TIME`, `GET`, `PSETEX`, `SETRANGE` or `DEL` inside it', 'slid'),
];

const expire = { command: '`EXPIRE`', key: 'user', of: 'expire', where: 'command' } as const;
const PLAIN: readonly Row[] = [
  ...rowsOf('`INCRBY`', 'user', 'incrby'),
  { ...expire, ...HALF_DONE, answers: [...REFUSALS, NO_PERMISSION], well: 'atOnce' },
  { ...expire, ...HALF_DONE, answers: WRONG_SERVER, well: 'reconnected' },
];
const get = { command: '`GET`, to hold back', key: 'user', of: 'get', where: 'command' } as const;
const AS_NEW = { ...UNSEEN, also: 'a counter that cannot be read holds nothing back' } as const;
const HELD_BACK: readonly Row[] = [
  { ...get, ...AS_NEW, answers: [...REFUSALS, ...OF_KEYS], well: 'atOnce' },
  { ...get, ...AS_NEW, answers: WRONG_SERVER, well: 'reconnected' },
  ...rowsOf('`INCRBY`, once it is not held back', 'user', 'incrby'),
];
const HELD_BACK_BY_SCRIPT = [
  ...scriptRowsOf('fixed windows, with holding back', 'user', [NO_PERMISSION]),
  ...insideRowsOf('`GET` or `INCRBY` inside it', 'user'),
];

const PACED = `  - { key: bucket, rate_limit: { algorithm: gcra, unit: hour, requests_per_unit: 1000 } }
  - { key: slid, rate_limit: { algorithm: sliding_window, unit: hour, requests_per_unit: 1000 } }
`;

const bulk = (text: string) => `$${String(text.length)}\r\n${text}\r\n`;

/** What a script answers to one key. */
function answerOf(sha: string, key: string, error: string | undefined): string {
  const counters = (good: string, size: number) =>
    error === undefined ? `*${String(size)}\r\n${good}` : `*1\r\n${bulk(error)}`;
  if (sha === SCRIPTS.add.sha) return counters(':1\r\n', 1);
  const isFixed = sha === SCRIPTS.holdBack.sha;
  const size = isFixed ? 1 : key.includes('~g') ? 2 : 3;
  return `*2\r\n${counters((isFixed ? ':1\r\n' : ':0\r\n').repeat(size), size)}*0\r\n`;
}

interface Place {
  readonly server: LyingRedis;
  readonly drill: Drill;
}

async function start(env: Readonly<Record<string, string>>, rules = ''): Promise<Place> {
  const server = await startLyingRedis();
  play(server, undefined);
  const KVSTORE_URL = `127.0.0.1:${String(server.port)}`;
  return { server, drill: await startDrill({ KVSTORE_URL, ...env }, rules) };
}

const PLAYED = [SCRIPTS.add, SCRIPTS.holdBack, ALGORITHM_SCRIPTS.declaring];
const RIGHT: Readonly<Record<string, string>> = {
  incrby: ':1\r\n',
  ttl: ':1\r\n',
  get: '$-1\r\n',
};

/** The right answer; that of a script has an error in place of its counter where there is one. */
function answerTo(words: readonly string[], inside?: string): string | undefined {
  const [name = '', text, size, key = ''] = words;
  const script = PLAYED.find(({ source, sha }) => text === sha || text === source);
  if (script !== undefined && size !== '0') return answerOf(script.sha, key, inside);
  return RIGHT[name.toLowerCase()];
}

interface Lie {
  readonly row: Row;
  readonly error: string;
}

/** Lets a server answer one command wrongly, and all others rightly. */
function play(server: LyingRedis, lie: Lie | undefined): void {
  server.lie = (words) => {
    if (lie === undefined || words[0]?.toLowerCase() !== lie.row.of) return answerTo(words);
    return lie.row.where === 'command' ? `-${lie.error}\r\n` : answerTo(words, lie.error);
  };
}

const GROUPS: readonly {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly rules?: string;
  readonly rows: readonly Row[];
}[] = [
  { name: 'Redis, answers to scripts', env: {}, rules: PACED, rows: BY_SCRIPT },
  {
    name: 'Redis, answers to scripts that hold back',
    env: { STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true' },
    rules: PACED,
    rows: HELD_BACK_BY_SCRIPT,
  },
  {
    name: 'Redis, answers to plain commands',
    env: { KVSTORE_SCRIPTS: 'false' },
    rows: PLAIN,
  },
  {
    name: 'Redis, answers to plain commands that hold back',
    env: { KVSTORE_SCRIPTS: 'false', STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true' },
    rows: HELD_BACK,
  },
];

for (const { name, env, rules, rows } of GROUPS)
  describe(name, () => {
    let place: Place;
    beforeAll(async () => {
      place = await start(env, rules);
    });
    afterAll(async () => {
      await place.drill.stop();
      await place.server.close();
    });

    for (const row of rows)
      itAnswers(row, () =>
        playAnswers(row, {
          drill: place.drill,
          key: row.key,
          wellKey: rules === undefined ? row.key : 'bucket',
          answer: (error) => {
            play(place.server, error === undefined ? undefined : { row, error });
          },
        }),
      );
  });
