import { BUDGETS_SCRIPT, OPERATIONS_SCRIPT, SCRIPTS } from '../../src/counters/redis/lua/scripts';
import { NO_INTEGER } from '../../src/counters/redis/store-errors';

/** Errors of a server that is there and does not do what it is asked. */
export const REFUSALS = [
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
export const WRONG_SERVER = [
  "READONLY You can't write against a read only replica.",
  'LOADING Redis is loading the dataset in memory',
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'NOAUTH Authentication required.',
] as const;

export const NO_PERMISSION = "NOPERM User default has no permissions to run the 'x' command";
export const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
export const OF_KEYS = [
  WRONG_TYPE,
  NO_INTEGER,
  'ERR increment or decrement would overflow',
] as const;

/** A user may not touch a key, in the words of a command and of two releases inside a script. */
export const FORBIDDEN_KEY =
  'NOPERM this user has no permissions to access one of the keys used as arguments';
export const FORBIDDEN_KEY_INSIDE = [
  "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
  'ERR ACL failure in script: No permissions to access a key',
] as const;

/** What proxies answer in place of a Redis that is away: two answers of Envoy, one of twemproxy. */
export const REDIS_AWAY = [
  'upstream failure',
  'no upstream host',
  'ERR Connection refused',
] as const;

/** Errors of a server that takes no scripts. */
export const NO_SCRIPTS = [
  NO_PERMISSION,
  "ERR unknown command 'evalsha'",
  "CROSSSLOT Keys in request don't hash to the same slot",
] as const;

export const bulk = (text: string) => `$${String(text.length)}\r\n${text}\r\n`;
export const list = (...texts: readonly string[]) =>
  `*${String(texts.length)}\r\n${texts.map(bulk).join('')}`;

const PLAYED = [SCRIPTS.add, SCRIPTS.holdBack, OPERATIONS_SCRIPT, BUDGETS_SCRIPT];
const RIGHT: Readonly<Record<string, string>> = {
  del: ':1\r\n',
  get: '$-1\r\n',
  hmget: list('7'),
  incrby: ':1\r\n',
  pttl: ':-2\r\n',
  publish: ':1\r\n',
  role: list('master'),
  time: list('1795240200', '0'),
  ttl: ':1\r\n',
};

const subscribedTo = (channel: string, at: number) =>
  `*3\r\n${bulk('subscribe')}${bulk(channel)}:${String(at + 1)}\r\n`;

/** What Redis answers to these words; that of a script has an error in place of its counter where there is one. */
export function rightAnswer(words: readonly string[], inside?: string): string | undefined {
  const [name = '', text, size, ...args] = words;
  const script = PLAYED.find(({ source, sha }) => text === sha || text === source);
  // In a cluster no key is declared: their number and themselves come first.
  const [key] = size === '0' ? args.slice(1) : args;
  if (script !== undefined && key !== undefined) return answerOf(script, key, inside);
  if (name.toLowerCase() === 'subscribe') return words.slice(1).map(subscribedTo).join('');
  return RIGHT[name.toLowerCase()];
}

/** What a script answers to one key. */
function answerOf(played: (typeof PLAYED)[number], key: string, error: string | undefined): string {
  const counters = (good: string, size: number) =>
    error === undefined ? `*${String(size)}\r\n${good}` : list(error);
  if (played === SCRIPTS.add) return counters(':1\r\n', 1);
  // Two figures of a limit under gcra, and that nothing is open; then the time.
  if (played === BUDGETS_SCRIPT)
    return `*3\r\n${counters(':0\r\n'.repeat(3), 3)}*0\r\n${bulk('1795240200000000')}`;
  const isFixed = played === SCRIPTS.holdBack;
  const size = isFixed ? 1 : key.includes('~g') ? 2 : 3;
  const time = isFixed ? '' : bulk('1795240200000000');
  const counts = counters((isFixed ? ':1\r\n' : ':0\r\n').repeat(size), size);
  return `*${isFixed ? '2' : '3'}\r\n${counts}*0\r\n${time}`;
}
