import { startDrill, type Drill } from '../../support/edge/fault-drill';
import { itAnswers, playAnswers, type AnswerFault } from '../../support/edge/fault-table';
import { startLyingRedis, type LyingRedis } from '../../support/lying-redis';
import {
  FORBIDDEN_KEY,
  FORBIDDEN_KEY_INSIDE,
  NO_PERMISSION,
  NO_SCRIPTS,
  OF_KEYS,
  REDIS_AWAY,
  REFUSALS,
  rightAnswer,
  WRONG_SERVER,
} from '../../support/redis-answers';

jest.setTimeout(60_000);

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
    { ...about, ...KEY_FAILING, answers: [...OF_KEYS, ...FORBIDDEN_KEY_INSIDE], well: 'atOnce' },
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
  ...scriptRowsOf('budgets', 'held', [NO_PERMISSION]),
  ...insideRowsOf('`TIME`, `HMGET`, `HSET`, `HDEL`, `PEXPIRE` or `DEL` inside it', 'held'),
];

const expire = { command: '`EXPIRE`', key: 'user', of: 'expire', where: 'command' } as const;
const incrby = { command: '`INCRBY`', key: 'user', of: 'incrby', where: 'command' } as const;
const AWAY = { ...FAILING, counts: ['redis_error', 'store_unknown_outcome'] } as const;
const PLAIN: readonly Row[] = [
  ...rowsOf('`INCRBY`', 'user', 'incrby'),
  { ...incrby, ...KEY_FAILING, answers: [FORBIDDEN_KEY], well: 'atOnce' },
  { ...incrby, ...AWAY, answers: REDIS_AWAY, well: 'atOnce' },
  { ...expire, ...AWAY, answers: REDIS_AWAY, well: 'atOnce' },
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
  - { key: held, rate_limits: [{ algorithm: gcra, unit: hour, requests_per_unit: 1000 }], reserve: {} }
`;

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

interface Lie {
  readonly row: Row;
  readonly error: string;
}

/** Lets a server answer one command wrongly, and all others rightly, also those that look after a connection. */
function play(server: LyingRedis, lie: Lie | undefined): void {
  server.lie = (words) => {
    const [command = '', key = ''] = words;
    const isLied = command.toLowerCase() === lie?.row.of && !key.startsWith('weir:no-key');
    if (!isLied) return rightAnswer(words);
    return lie.row.where === 'command' ? `-${lie.error}\r\n` : rightAnswer(words, lie.error);
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
