import {
  addBudget,
  addFixed,
  addGcra,
  addHeldBack,
  asksForScripts,
  named,
  runs,
} from '../../support/edge/played-calls';
import {
  itPlaysAll,
  NO_ANSWER,
  SILENT,
  TORN,
  type PlayedCommand,
} from '../../support/edge/played-commands';
import {
  bulk,
  NO_PERMISSION,
  NO_SCRIPTS,
  OF_KEYS,
  REFUSALS,
  WRONG_SERVER,
} from '../../support/redis-answers';
import { runRedisCounters } from '../../support/edge/redis-counters';

jest.setTimeout(60_000);

/** Of commands that are asked twice a second, some errors that are read alike. */
const FEW = [NO_PERMISSION, ...WRONG_SERVER.slice(1), "ERR unknown command 'x'"];
const LOST = /lost the store/;

const inClusterBy =
  ({ scripts }: { readonly scripts: boolean }) =>
  (port: number, timeoutMs: number) =>
    runRedisCounters({
      address: { kind: 'cluster', nodes: [{ host: '127.0.0.1', port }] },
      timeoutMs,
      scripts,
    });

const clusterCommand =
  (name: string) =>
  (words: readonly string[]): boolean =>
    named('cluster')(words) && words[1] === name;
const inCluster = {
  start: inClusterBy({ scripts: false }),
  act: addFixed,
  besides(words: readonly string[], port: number) {
    if (clusterCommand('INFO')(words)) return bulk('cluster_state:ok');
    if (!clusterCommand('SLOTS')(words)) return undefined;
    return `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n${bulk('127.0.0.1')}:${String(port)}\r\n`;
  },
} as const;
/** Nodes that sent their last INCRBY on. */
const redirected = new Set<number>();
/** Each other INCRBY is sent on, to the same node with ASKING before it. */
function redirecting(words: readonly string[], port: number): string | undefined {
  if (!named('incrby')(words)) return inCluster.besides(words, port);
  if (redirected.delete(port)) return undefined;
  redirected.add(port);
  return `-ASK 42 127.0.0.1:${String(port)}\r\n`;
}
const CLUSTER: readonly PlayedCommand[] = [
  {
    ...inCluster,
    command: '`CLUSTER SLOTS`, while no other node answers it',
    is: clusterCommand('SLOTS'),
    whenConnecting: true,
    sees: 'UNAVAILABLE',
    says: /returned the slot map/,
    answers: FEW,
  },
  {
    ...inCluster,
    command: '`CLUSTER INFO`',
    is: clusterCommand('INFO'),
    whenConnecting: true,
    answers: FEW,
  },
  {
    ...inCluster,
    command: '`ASKING`',
    is: named('asking'),
    besides: redirecting,
    answers: FEW,
  },
  {
    ...inCluster,
    command: '`INCRBY` in a cluster',
    is: named('incrby'),
    sees: 'UNAVAILABLE',
    answers: ['CLUSTERDOWN The cluster is down', 'TRYAGAIN Multiple keys request', NO_PERMISSION],
  },
];

const isPlace = (error: string) => /^(?:MOVED|ASK|CLUSTERDOWN|TRYAGAIN)/.test(error);
const STAYING = REFUSALS.filter((error) => !/^(?:MOVED|ASK)/.test(error));
const OTHERS = REFUSALS.filter((error) => !isPlace(error));
/** What a node says inside a script of a key that it does not own. */
const NON_LOCAL = 'ERR Script attempted to access a non local key in a cluster node';
const ELSEWHERE = [
  NON_LOCAL,
  ...REFUSALS.filter((error) => /^(?:CLUSTERDOWN|TRYAGAIN)/.test(error)),
];

const inScripts = { ...inCluster, start: inClusterBy({ scripts: true }) } as const;
const declaresNone = (words: readonly string[]) => runs('evalsha')(words) && words[2] === '0';
const declaresOne = (words: readonly string[]) => runs('evalsha')(words) && words[2] === '1';
const ofEach = {
  ...inScripts,
  command: '`EVALSHA` in a cluster, of each kind of limit',
  is: declaresNone,
  alike: [addHeldBack, addGcra, addBudget].map((act) => ({ is: declaresNone, act })),
} as const;
const insideOf = {
  ...ofEach,
  command: '`INCRBY`, `GET`, `PSETEX` … inside it',
  isInside: true,
} as const;
const ownCall = {
  ...inScripts,
  command: '`EVALSHA` of one key, which the script for all could not use',
  is: declaresOne,
  act: addGcra,
  besides: (words: readonly string[], port: number) =>
    declaresNone(words)
      ? `*3\r\n*1\r\n${bulk(NON_LOCAL)}*0\r\n${bulk('1795240200000000')}`
      : inCluster.besides(words, port),
} as const;
/** Each other call of one key is sent on, to the same node; the one that follows is the command. */
const sentOn = (kind: 'MOVED' | 'ASK') => {
  /** Nodes that sent the last one on. */
  const sent = new Set<number>();
  const besides = (words: readonly string[], port: number): string | undefined => {
    if (!declaresOne(words)) return ownCall.besides(words, port);
    if (sent.delete(port)) return undefined;
    sent.add(port);
    return `-${kind} 42 127.0.0.1:${String(port)}\r\n`;
  };
  const is = (words: readonly string[], port: number): boolean =>
    declaresOne(words) && sent.delete(port);
  return { ...ownCall, command: `\`EVALSHA\` of one key, after \`${kind}\``, is, besides };
};
const SCRIPTS_IN_CLUSTER: readonly PlayedCommand[] = [
  {
    ...inScripts,
    command: '`EVAL` or `EVALSHA` without keys, of a node',
    is: (words) => asksForScripts('eval')(words) || asksForScripts('evalsha')(words),
    whenConnecting: true,
    who: 'rules that need scripts: they fail',
    says: /does not accept scripts, using plain commands/,
    answers: NO_SCRIPTS,
  },
  {
    ...inScripts,
    command: '`EVAL` without keys, of a node',
    is: asksForScripts('eval'),
    whenConnecting: true,
    sees: 'UNAVAILABLE',
    says: /cannot reach the store/,
    answers: [...REFUSALS, ...WRONG_SERVER, ...NO_ANSWER],
  },
  { ...ofEach, answers: OTHERS, sees: 'UNAVAILABLE' },
  { ...ofEach, answers: ELSEWHERE, who: 'nobody: each key is asked for by itself' },
  { ...ofEach, answers: WRONG_SERVER, sees: 'UNAVAILABLE', says: LOST },
  {
    ...inScripts,
    command: '`EVALSHA` in a cluster, of fixed windows',
    is: declaresNone,
    who: 'rules that need scripts: they fail',
    says: /does not accept scripts, using plain commands/,
    answers: NO_SCRIPTS,
  },
  { ...ofEach, answers: TORN, sees: 'UNAVAILABLE', says: LOST, isUnsure: true },
  { ...ofEach, answers: SILENT, sees: 'DEADLINE_EXCEEDED', says: LOST, isUnsure: true },
  { ...insideOf, answers: [...OTHERS, NO_PERMISSION, ...OF_KEYS], sees: 'UNAVAILABLE' },
  { ...insideOf, answers: ELSEWHERE, who: 'nobody: each key is asked for by itself' },
  { ...insideOf, answers: WRONG_SERVER.slice(0, 1), sees: 'UNAVAILABLE', says: LOST },
  { ...ownCall, answers: [...STAYING, NO_PERMISSION, ...OF_KEYS], sees: 'UNAVAILABLE' },
  { ...ownCall, answers: WRONG_SERVER, sees: 'UNAVAILABLE', says: LOST },
  { ...ownCall, answers: TORN, sees: 'UNAVAILABLE', says: LOST, isUnsure: true },
  { ...ownCall, answers: SILENT, sees: 'DEADLINE_EXCEEDED', says: LOST, isUnsure: true },
  ...(['MOVED', 'ASK'] as const).map((kind) => ({
    ...sentOn(kind),
    answers: [...OTHERS, NO_PERMISSION, ...OF_KEYS],
    sees: 'UNAVAILABLE' as const,
  })),
  { ...sentOn('ASK'), command: '`ASKING` before it', is: named('asking'), answers: FEW },
];

itPlaysAll([
  ['Redis, answers in a cluster', CLUSTER],
  ['Redis, answers to scripts in a cluster', SCRIPTS_IN_CLUSTER],
]);
