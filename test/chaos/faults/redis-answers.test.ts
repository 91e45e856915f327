import { COUNTED } from '../../../src/counters/redis/store-errors';
import { claimText } from '../../../src/counters/redis/notes';
import { freshKey } from '../../contract/counters.contract';
import {
  addAll,
  addFixed,
  addBudget,
  addGcra,
  addHeldBack,
  addSliding,
  asksForScripts,
  named,
  only,
  runs,
  start,
} from '../../support/edge/played-calls';
import {
  BROKEN,
  ENDS,
  itPlaysAll,
  rowsOf,
  NO_ANSWER,
  NO_MASTER,
  SILENT,
  splitMoved,
  TORN,
  type PlayedCommand,
} from '../../support/edge/played-commands';
import {
  FORBIDDEN_KEY,
  FORBIDDEN_KEY_INSIDE,
  list,
  NO_PERMISSION,
  NO_SCRIPTS,
  OF_KEYS,
  REDIS_AWAY,
  REFUSALS,
  WRONG_SERVER,
} from '../../support/redis-answers';
import { runRedisCounters, type RunningRedisCounters } from '../../support/edge/redis-counters';

jest.setTimeout(60_000);

const UNKNOWN_COMMAND = "ERR unknown command 'x'";
const ERRORS = [...REFUSALS, NO_PERMISSION];
const ALL = [...ERRORS, ...WRONG_SERVER, UNKNOWN_COMMAND];
/** Of commands that are asked twice a second, some errors that are read alike. */
const FEW = [NO_PERMISSION, ...WRONG_SERVER.slice(1), UNKNOWN_COMMAND];
/** What a user may not do inside a script, in the words of different servers, and refusals in those of old ones. */
const INSIDE = [
  ...REFUSALS.slice(0, 3),
  NO_PERMISSION,
  "ERR The user executing the script can't run this command or subcommand",
  '@user_script: 7: -OOM command not allowed',
];
/** What servers and proxies that run no scripts say to one that does nothing, and what others say who cannot run it now. */
const LACKS_OF_SCRIPTS = [
  "ERR unknown command 'EVAL', with args beginning with: ",
  'ERR unknown command `eval`',
  'invalid request',
  "wrong number of arguments for 'eval' command",
  "ERR for redis cluster, eval/evalsha number of keys can't be negative or zero",
  'ERR command eval not support for normal user',
  'ERR EVAL is not allowed',
  "NOPERM this user has no permissions to run the 'eval' command",
  'CROSSSLOT No way to dispatch this command',
];
const NO_LACKS_OF_SCRIPTS = [
  'ERR proxy has no backend now',
  'ERR upstream failure',
  'ERR max number of clients reached',
  'ERR Error running script (call to f_0): out of memory',
];
const CANNOT_REACH = /cannot reach the store/;
const LOST = /lost the store/;
const NO_SCRIPTS_SAID = /does not accept scripts, using plain commands/;

const isNoCounter = (key = '') => key.startsWith('weir:no-key');
const asksForExpire = (words: readonly string[]) => named('expire')(words) && isNoCounter(words[1]);
const expires = (words: readonly string[]) => named('expire')(words) && !isNoCounter(words[1]);

const isOfCluster = (answer: string) => /^(?:MOVED|CLUSTERDOWN)/.test(answer);

const AWAY = { sees: 'UNAVAILABLE', says: CANNOT_REACH } as const;
const connecting = { whenConnecting: true, start: start(), act: addFixed } as const;

const auth = { username: undefined, password: 'secret' };
const onDatabase = { ...connecting, start: start({ database: 1 }) } as const;
const isQuestion = (words: readonly string[]) =>
  asksForScripts('eval')(words) || asksForScripts('evalsha')(words);
const question = {
  ...connecting,
  command: '`EVAL` or `EVALSHA` without keys, which asks for scripts',
  is: isQuestion,
} as const;
const byEval = { ...question, command: '`EVAL` without keys', is: asksForScripts('eval') } as const;
const bySha = {
  ...question,
  command: '`EVALSHA` without keys',
  is: asksForScripts('evalsha'),
} as const;
const right = { ...connecting, command: '`EXPIRE` of no counter', is: asksForExpire } as const;
const ofSentinel = {
  ...right,
  command: '`EXPIRE` of no counter, of a sentinel',
  besides: ([name]: readonly string[]) => (name === 'ROLE' ? list('sentinel') : undefined),
} as const;
const refusedFor = (says: RegExp) => ({ sees: 'UNAVAILABLE', says }) as const;
const GREETING: readonly PlayedCommand[] = [
  ...rowsOf({ ...connecting, command: '`AUTH`', is: named('auth'), start: start({ auth }) }, [
    [...ALL, ...BROKEN],
    AWAY,
  ]),
  ...rowsOf({ ...onDatabase, command: '`SELECT`', is: named('select') }, [
    [...ALL, ...BROKEN],
    AWAY,
  ]),
  ...rowsOf(
    { ...connecting, command: '`PING`', is: named('ping') },
    [[...REFUSALS.slice(0, -1), ...WRONG_SERVER, ...BROKEN], AWAY],
    [[NO_PERMISSION, UNKNOWN_COMMAND]],
    [['NOPROTO unsupported protocol version'], refusedFor(/protocol_version/)],
  ),
  ...rowsOf(question, [
    [...NO_SCRIPTS, ...LACKS_OF_SCRIPTS, ...ENDS],
    { who: 'rules that need scripts: they fail', says: NO_SCRIPTS_SAID },
  ]),
  ...rowsOf(byEval, [[...REFUSALS, ...WRONG_SERVER, ...NO_LACKS_OF_SCRIPTS, ...NO_ANSWER], AWAY]),
  ...rowsOf(bySha, [[...REFUSALS, ...WRONG_SERVER]], [NO_ANSWER, AWAY]),
  ...rowsOf(
    right,
    [[NO_PERMISSION], { says: /may not run EXPIRE/ }],
    [[...REFUSALS.filter((answer) => !isOfCluster(answer)), UNKNOWN_COMMAND]],
    [[...WRONG_SERVER, ...REDIS_AWAY, ...BROKEN], AWAY],
    [REFUSALS.filter(isOfCluster), refusedFor(/KVSTORE_TYPE=cluster/)],
  ),
  ...rowsOf(ofSentinel, [[UNKNOWN_COMMAND], refusedFor(/KVSTORE_TYPE=sentinel/)]),
  ...rowsOf(
    { ...onDatabase, command: '`HELLO`, before `SELECT`', is: named('hello') },
    [ALL],
    [BROKEN, AWAY],
  ),
];

const kinds = [addHeldBack, addGcra, addSliding, addBudget].map((act) => ({
  is: runs('evalsha'),
  act,
}));
const byScript = {
  command: '`EVALSHA`, of each kind of limit',
  is: runs('evalsha'),
  start: start(),
  act: addFixed,
  alike: kinds,
} as const;
const needsScripts = { ...byScript, act: addGcra, alike: kinds.slice(2) } as const;
const inside = {
  ...byScript,
  command:
    '`TIME`, `INCRBY`, `GET`, `PSETEX`, `SETRANGE`, `DEL`, `HMGET`, `HSET`, `HDEL` or `PEXPIRE` inside it',
  isInside: true,
} as const;
const plain = {
  command: '`INCRBY`, alone or to hold back',
  is: named('incrby'),
  start: start({ scripts: false }),
  act: addFixed,
  alike: [{ is: named('incrby'), act: addHeldBack }],
} as const;
const expire = { ...plain, command: '`EXPIRE`', is: expires, alike: [], isUnsure: true } as const;
const get = {
  ...plain,
  command: '`GET`, to hold back',
  is: named('get'),
  act: addHeldBack,
  alike: [],
} as const;

const REFUSED = { sees: 'UNAVAILABLE' } as const;
const LEFT = { ...REFUSED, says: LOST } as const;
const HALF_DONE = { ...REFUSED, isUnsure: true } as const;
const UNSURE = { ...LEFT, isUnsure: true } as const;
const LATE = { ...UNSURE, sees: 'DEADLINE_EXCEEDED' } as const;
const NO_HOLDING_BACK = { who: 'nobody: it holds nothing back' } as const;
const COUNTING: readonly PlayedCommand[] = [
  ...[byScript, plain].flatMap((about) =>
    rowsOf(about, [REFUSALS, REFUSED], [WRONG_SERVER, LEFT], [OF_KEYS, REFUSED]),
  ),
  ...rowsOf(byScript, [['NOSCRIPT No matching script.']]),
  ...rowsOf({ ...byScript, alike: kinds.slice(0, 1), command: '`EVALSHA` of fixed windows' }, [
    NO_SCRIPTS,
    { who: 'nobody: plain commands are used', says: NO_SCRIPTS_SAID },
  ]),
  ...rowsOf({ ...needsScripts, command: '`EVALSHA` of rules that need scripts' }, [
    NO_SCRIPTS,
    refusedFor(NO_SCRIPTS_SAID),
  ]),
  ...rowsOf(
    inside,
    [INSIDE, REFUSED],
    [[...WRONG_SERVER.slice(0, 1), '@user_script: 7: -READONLY no'], LEFT],
    [[...OF_KEYS, ...FORBIDDEN_KEY_INSIDE], REFUSED],
  ),
  ...rowsOf({ ...inside, command: '`EXPIRE` inside it', alike: [] }, [
    [`${COUNTED}${NO_PERMISSION}`],
    HALF_DONE,
  ]),
  ...rowsOf(plain, [[FORBIDDEN_KEY], REFUSED], [REDIS_AWAY, HALF_DONE]),
  ...rowsOf(expire, [[...ERRORS, ...REDIS_AWAY], HALF_DONE], [WRONG_SERVER, LEFT]),
  ...rowsOf(
    get,
    [[...REFUSALS, ...OF_KEYS], NO_HOLDING_BACK],
    [WRONG_SERVER, { ...NO_HOLDING_BACK, says: LOST }],
  ),
  ...[byScript, plain, expire, get].flatMap((about) =>
    rowsOf(about, [TORN, UNSURE], [SILENT, LATE]),
  ),
];

const forgotten = {
  command: '`EVAL`, after a `NOSCRIPT`',
  is: runs('eval'),
  besides: (words: readonly string[]) =>
    runs('evalsha')(words) ? '-NOSCRIPT No matching script.\r\n' : undefined,
  start: start(),
} as const;
const ttl = {
  command: '`TTL` of a counter that is new again',
  is: named('ttl'),
  start: start({ scripts: false }),
  async act(counters: RunningRedisCounters) {
    const again = only(freshKey());
    await addAll(counters, again);
    await addAll(counters, again);
  },
  isUnsure: true,
} as const;
const TIMED_OUT = { sees: 'DEADLINE_EXCEEDED', says: LOST } as const;
const SECOND: readonly PlayedCommand[] = [
  ...rowsOf(
    { ...forgotten, act: addFixed },
    [REFUSALS, REFUSED],
    [WRONG_SERVER, LEFT],
    [NO_SCRIPTS, { who: 'rules that need scripts: they fail', says: NO_SCRIPTS_SAID }],
  ),
  ...rowsOf({ ...forgotten, act: addGcra }, [TORN, UNSURE]),
  ...rowsOf(ttl, [ERRORS, REFUSED], [[...WRONG_SERVER, ...TORN], LEFT], [SILENT, TIMED_OUT]),
];

const claim = (counters: RunningRedisCounters) =>
  claimText(counters, { key: 'k', text: 'mine', ttlSeconds: 10 });
const held = (words: readonly string[]) => {
  if (named('set')(words)) return '$-1\r\n';
  return named('get')(words) ? '$4\r\nmine\r\n' : undefined;
};
const beside = { start: start() } as const;
const forLimits = {
  ...beside,
  command: '`HMGET`',
  who: '`limits_from`: it keeps what it knows, and warns',
  is: named('hmget'),
  act: (counters: RunningRedisCounters) => counters.readFields('plans', ['ann']),
} as const;
const ofKeys = {
  ...beside,
  besides: held,
  command: '`SET`, `GET`, `EXPIRE` of the marks of secret keys',
  who: 'nobody: the keys are compared again within a minute',
  is: named('set'),
  act: claim,
  alike: [named('get'), expires].map((is) => ({ is, act: claim })),
} as const;
const BESIDE = [forLimits, ofKeys].flatMap((about) =>
  rowsOf(
    about,
    [[...ERRORS, UNKNOWN_COMMAND], REFUSED],
    [[...WRONG_SERVER, ...TORN], LEFT],
    [SILENT, TIMED_OUT],
  ),
);

const listening = start({ forgetChannel: 'forget' }, { onForget: () => undefined });
const UNHEARD = { says: /refuses messages between local caches/ } as const;
const MESSAGES: readonly PlayedCommand[] = [
  ...rowsOf(
    {
      ...connecting,
      start: listening,
      command: '`SUBSCRIBE`',
      is: named('subscribe'),
      who: 'local caches: they hear nothing',
    },
    [[...ALL, ...BROKEN], UNHEARD],
  ),
  ...rowsOf(
    {
      start: listening,
      command: '`PUBLISH`',
      is: named('publish'),
      act: (counters) => Promise.resolve(counters.publishInvalidation?.(['k'])),
      who: 'local caches of other instances: they hear nothing',
    },
    [[...ALL, ...BROKEN], UNHEARD],
  ),
];

const inSentinel = {
  whenConnecting: true,
  start: (port: number) =>
    runRedisCounters({
      address: { kind: 'sentinel', masterName: 'limits', sentinels: [{ host: '127.0.0.1', port }] },
    }),
  act: addFixed,
  besides([name, what]: readonly string[], port: number) {
    if (name !== 'SENTINEL') return undefined;
    return what === 'master' ? list('config-epoch', '1') : list('127.0.0.1', String(port));
  },
} as const;
const SENTINEL: readonly PlayedCommand[] = [
  ...rowsOf(
    {
      ...inSentinel,
      command: '`SENTINEL`, while no other names a master',
      is: named('sentinel'),
    },
    [[...FEW, ...BROKEN], refusedFor(/does not name the master/)],
  ),
  ...rowsOf({ ...inSentinel, command: '`SUBSCRIBE` of a sentinel', is: named('subscribe') }, [
    [...ALL, ...BROKEN],
    { says: /does not let this service subscribe/ },
  ]),
  ...rowsOf(
    { ...inSentinel, command: '`ROLE`', is: named('role') },
    [ALL],
    [NO_MASTER, refusedFor(/it is a slave, not the master/)],
    [BROKEN, AWAY],
  ),
];

itPlaysAll([
  ['Redis, answers when connecting', GREETING],
  ['Redis, answers to counting', COUNTING.flatMap(splitMoved)],
  ['Redis, answers to what follows', SECOND.flatMap(splitMoved)],
  ['Redis, answers to other commands', BESIDE.flatMap(splitMoved)],
  ['Redis, answers to messages', MESSAGES],
  ['Redis, answers of sentinels and their masters', SENTINEL],
]);
