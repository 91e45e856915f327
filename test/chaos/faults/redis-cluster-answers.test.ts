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
  rowsOf,
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
const REFUSED = { sees: 'UNAVAILABLE' } as const;
const LEFT = { ...REFUSED, says: /lost the store/ } as const;
const UNSURE = { ...LEFT, isUnsure: true } as const;
const LATE = { ...UNSURE, sees: 'DEADLINE_EXCEEDED' } as const;

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
const ofSlots = { ...inCluster, whenConnecting: true } as const;
const CLUSTER: readonly PlayedCommand[] = [
  ...rowsOf(
    {
      ...ofSlots,
      command: '`CLUSTER SLOTS`, while no other node answers it',
      is: clusterCommand('SLOTS'),
    },
    [FEW, { sees: 'UNAVAILABLE', says: /returned the slot map/ }],
  ),
  ...rowsOf({ ...ofSlots, command: '`CLUSTER INFO`', is: clusterCommand('INFO') }, [FEW]),
  ...rowsOf({ ...inCluster, command: '`ASKING`', is: named('asking'), besides: redirecting }, [
    FEW,
  ]),
  ...rowsOf({ ...inCluster, command: '`INCRBY` in a cluster', is: named('incrby') }, [
    ['CLUSTERDOWN The cluster is down', 'TRYAGAIN Multiple keys request', NO_PERMISSION],
    REFUSED,
  ]),
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
const whenConnecting = { ...inScripts, whenConnecting: true } as const;
const isQuestion = (words: readonly string[]) =>
  asksForScripts('eval')(words) || asksForScripts('evalsha')(words);
const PLAIN_USED = {
  who: 'rules that need scripts: they fail',
  says: /does not accept scripts, using plain commands/,
} as const;
const ALONE = { who: 'nobody: each key is asked for by itself' } as const;
const SCRIPTS_IN_CLUSTER: readonly PlayedCommand[] = [
  ...rowsOf(
    {
      ...whenConnecting,
      command: '`EVAL` or `EVALSHA` without keys, of a node',
      is: isQuestion,
    },
    [NO_SCRIPTS, PLAIN_USED],
  ),
  ...rowsOf(
    { ...whenConnecting, command: '`EVAL` without keys, of a node', is: asksForScripts('eval') },
    [[...REFUSALS, ...WRONG_SERVER, ...NO_ANSWER], { ...REFUSED, says: /cannot reach the store/ }],
  ),
  ...rowsOf(ofEach, [OTHERS, REFUSED], [ELSEWHERE, ALONE], [WRONG_SERVER, LEFT]),
  ...rowsOf(
    { ...inScripts, command: '`EVALSHA` in a cluster, of fixed windows', is: declaresNone },
    [NO_SCRIPTS, PLAIN_USED],
  ),
  ...rowsOf(ofEach, [TORN, UNSURE], [SILENT, LATE]),
  ...rowsOf(
    insideOf,
    [[...OTHERS, NO_PERMISSION, ...OF_KEYS], REFUSED],
    [ELSEWHERE, ALONE],
    [WRONG_SERVER.slice(0, 1), LEFT],
  ),
  ...rowsOf(
    ownCall,
    [[...STAYING, NO_PERMISSION, ...OF_KEYS], REFUSED],
    [WRONG_SERVER, LEFT],
    [TORN, UNSURE],
    [SILENT, LATE],
  ),
  ...(['MOVED', 'ASK'] as const).flatMap((kind) =>
    rowsOf(sentOn(kind), [[...OTHERS, NO_PERMISSION, ...OF_KEYS], REFUSED]),
  ),
  ...rowsOf({ ...sentOn('ASK'), command: '`ASKING` before it', is: named('asking') }, [FEW]),
];

itPlaysAll([
  ['Redis, answers in a cluster', CLUSTER],
  ['Redis, answers to scripts in a cluster', SCRIPTS_IN_CLUSTER],
]);
