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
const GREETING: readonly PlayedCommand[] = [
  {
    ...connecting,
    ...AWAY,
    command: '`AUTH`',
    is: named('auth'),
    start: start({ auth }),
    answers: [...ALL, ...BROKEN],
  },
  {
    ...connecting,
    ...AWAY,
    command: '`SELECT`',
    is: named('select'),
    start: start({ database: 1 }),
    answers: [...ALL, ...BROKEN],
  },
  {
    ...connecting,
    ...AWAY,
    command: '`PING`',
    is: named('ping'),
    answers: [...REFUSALS.slice(0, -1), ...WRONG_SERVER, ...BROKEN],
  },
  {
    ...connecting,
    command: '`PING`',
    is: named('ping'),
    answers: [NO_PERMISSION, UNKNOWN_COMMAND],
  },
  {
    ...connecting,
    command: '`EVAL` or `EVALSHA` without keys, which asks for scripts',
    is: (words) => asksForScripts('eval')(words) || asksForScripts('evalsha')(words),
    who: 'rules that need scripts: they fail',
    says: NO_SCRIPTS_SAID,
    answers: [...NO_SCRIPTS, ...LACKS_OF_SCRIPTS, ...ENDS],
  },
  {
    ...connecting,
    ...AWAY,
    command: '`EVAL` without keys',
    is: asksForScripts('eval'),
    answers: [...REFUSALS, ...WRONG_SERVER, ...NO_LACKS_OF_SCRIPTS, ...NO_ANSWER],
  },
  {
    ...connecting,
    command: '`EVALSHA` without keys',
    is: asksForScripts('evalsha'),
    answers: [...REFUSALS, ...WRONG_SERVER],
  },
  {
    ...connecting,
    ...AWAY,
    command: '`EVALSHA` without keys',
    is: asksForScripts('evalsha'),
    answers: NO_ANSWER,
  },
  {
    ...connecting,
    command: '`EXPIRE` of no counter, which asks for the right',
    is: asksForExpire,
    says: /may not run EXPIRE/,
    answers: [NO_PERMISSION],
  },
  {
    ...connecting,
    command: '`EXPIRE` of no counter',
    is: asksForExpire,
    answers: [...REFUSALS.filter((answer) => !isOfCluster(answer)), UNKNOWN_COMMAND],
  },
  {
    ...connecting,
    ...AWAY,
    command: '`EXPIRE` of no counter',
    is: asksForExpire,
    answers: [...WRONG_SERVER, ...REDIS_AWAY, ...BROKEN],
  },
  {
    ...connecting,
    sees: 'UNAVAILABLE',
    says: /KVSTORE_TYPE=cluster/,
    command: '`EXPIRE` of no counter',
    is: asksForExpire,
    answers: REFUSALS.filter(isOfCluster),
  },
  {
    ...connecting,
    sees: 'UNAVAILABLE',
    says: /KVSTORE_TYPE=sentinel/,
    command: '`EXPIRE` of no counter, of a sentinel',
    is: asksForExpire,
    besides: ([name]) => (name === 'ROLE' ? list('sentinel') : undefined),
    answers: [UNKNOWN_COMMAND],
  },
  {
    ...connecting,
    sees: 'UNAVAILABLE',
    says: /protocol_version/,
    command: '`PING`',
    is: named('ping'),
    answers: ['NOPROTO unsupported protocol version'],
  },
  {
    ...connecting,
    command: '`HELLO`, before `SELECT`',
    is: named('hello'),
    start: start({ database: 1 }),
    answers: ALL,
  },
  {
    ...connecting,
    ...AWAY,
    command: '`HELLO`, before `SELECT`',
    is: named('hello'),
    start: start({ database: 1 }),
    answers: BROKEN,
  },
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
const COUNTING: readonly PlayedCommand[] = [
  ...[byScript, plain].flatMap((about): readonly PlayedCommand[] => [
    { ...about, ...REFUSED, answers: REFUSALS },
    { ...about, ...LEFT, answers: WRONG_SERVER },
    { ...about, ...REFUSED, answers: OF_KEYS },
  ]),
  { ...byScript, answers: ['NOSCRIPT No matching script.'] },
  {
    ...byScript,
    alike: kinds.slice(0, 1),
    command: '`EVALSHA` of fixed windows',
    who: 'nobody: plain commands are used',
    says: NO_SCRIPTS_SAID,
    answers: NO_SCRIPTS,
  },
  {
    ...needsScripts,
    ...REFUSED,
    command: '`EVALSHA` of rules that need scripts',
    says: NO_SCRIPTS_SAID,
    answers: NO_SCRIPTS,
  },
  { ...inside, ...REFUSED, answers: INSIDE },
  { ...inside, ...LEFT, answers: [...WRONG_SERVER.slice(0, 1), '@user_script: 7: -READONLY no'] },
  { ...inside, ...REFUSED, answers: [...OF_KEYS, ...FORBIDDEN_KEY_INSIDE] },
  {
    ...inside,
    ...HALF_DONE,
    command: '`EXPIRE` inside it',
    alike: [],
    answers: [`${COUNTED}${NO_PERMISSION}`],
  },
  { ...plain, ...REFUSED, answers: [FORBIDDEN_KEY] },
  { ...plain, ...HALF_DONE, answers: REDIS_AWAY },
  { ...expire, ...HALF_DONE, answers: [...ERRORS, ...REDIS_AWAY] },
  { ...expire, ...LEFT, answers: WRONG_SERVER },
  { ...get, who: 'nobody: it holds nothing back', answers: [...REFUSALS, ...OF_KEYS] },
  { ...get, who: 'nobody: it holds nothing back', says: LOST, answers: WRONG_SERVER },
  ...[byScript, plain, expire, get].flatMap((about): readonly PlayedCommand[] => [
    { ...about, ...LEFT, isUnsure: true, answers: TORN },
    { ...about, sees: 'DEADLINE_EXCEEDED', says: LOST, isUnsure: true, answers: SILENT },
  ]),
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
const SECOND: readonly PlayedCommand[] = [
  { ...forgotten, act: addFixed, answers: REFUSALS, sees: 'UNAVAILABLE' },
  { ...forgotten, act: addFixed, answers: WRONG_SERVER, sees: 'UNAVAILABLE', says: LOST },
  {
    ...forgotten,
    act: addFixed,
    answers: NO_SCRIPTS,
    who: 'rules that need scripts: they fail',
    says: NO_SCRIPTS_SAID,
  },
  { ...forgotten, act: addGcra, answers: TORN, sees: 'UNAVAILABLE', says: LOST, isUnsure: true },
  { ...ttl, answers: ERRORS, sees: 'UNAVAILABLE' },
  { ...ttl, answers: [...WRONG_SERVER, ...TORN], sees: 'UNAVAILABLE', says: LOST },
  { ...ttl, answers: SILENT, sees: 'DEADLINE_EXCEEDED', says: LOST },
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
const BESIDE = [forLimits, ofKeys].flatMap((about): readonly PlayedCommand[] => [
  { ...about, answers: [...ERRORS, UNKNOWN_COMMAND], sees: 'UNAVAILABLE' },
  { ...about, answers: [...WRONG_SERVER, ...TORN], sees: 'UNAVAILABLE', says: LOST },
  { ...about, answers: SILENT, sees: 'DEADLINE_EXCEEDED', says: LOST },
]);

const listening = start({ forgetChannel: 'forget' }, { onForget: () => undefined });
const MESSAGES: readonly PlayedCommand[] = [
  {
    command: '`SUBSCRIBE`',
    is: named('subscribe'),
    whenConnecting: true,
    start: listening,
    act: addFixed,
    who: 'local caches: they hear nothing',
    says: /refuses messages between local caches/,
    answers: [...ALL, ...BROKEN],
  },
  {
    command: '`PUBLISH`',
    is: named('publish'),
    start: listening,
    act: (counters) => Promise.resolve(counters.publishInvalidation?.(['k'])),
    who: 'local caches of other instances: they hear nothing',
    says: /refuses messages between local caches/,
    answers: [...ALL, ...BROKEN],
  },
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
  {
    ...inSentinel,
    command: '`SENTINEL`, while no other names a master',
    is: named('sentinel'),
    sees: 'UNAVAILABLE',
    says: /does not name the master/,
    answers: [...FEW, ...BROKEN],
  },
  {
    ...inSentinel,
    command: '`SUBSCRIBE` of a sentinel',
    is: named('subscribe'),
    says: /does not let this service subscribe/,
    answers: [...ALL, ...BROKEN],
  },
  { ...inSentinel, command: '`ROLE`', is: named('role'), answers: ALL },
  {
    ...inSentinel,
    command: '`ROLE`',
    is: named('role'),
    sees: 'UNAVAILABLE',
    says: /it is a slave, not the master/,
    answers: NO_MASTER,
  },
  { ...inSentinel, ...AWAY, command: '`ROLE`', is: named('role'), answers: BROKEN },
];

itPlaysAll([
  ['Redis, answers when connecting', GREETING],
  ['Redis, answers to counting', COUNTING.flatMap(splitMoved)],
  ['Redis, answers to what follows', SECOND.flatMap(splitMoved)],
  ['Redis, answers to other commands', BESIDE.flatMap(splitMoved)],
  ['Redis, answers to messages', MESSAGES],
  ['Redis, answers of sentinels and their masters', SENTINEL],
]);
