/** What a server turned out to be that was named as the one that counts, as a node of a cluster (`alone`) or as a sentinel (`no-sentinel`). */
export type WrongKind = 'cluster' | 'replica' | 'sentinel' | 'alone' | 'no-sentinel';

/** The setting for the kind of store, with its older name. */
export type TypeSetting = 'KVSTORE_TYPE' | 'KVSTORE_PERSECOND_TYPE';

const ADVICE: Readonly<Record<WrongKind, (set: (type: string) => string) => string>> = {
  cluster: (set) => `it is one node of a cluster: set ${set('cluster')}`,
  replica: (set) => `it is a replica: name its master, or its sentinels with ${set('sentinel')}`,
  sentinel: (set) => `it is a sentinel: set ${set('sentinel')} and put the master's name first`,
  alone: (set) => `it is a single server, not a node of a cluster: set ${set('single')}`,
  'no-sentinel': (set) =>
    `it is not a sentinel: name the sentinels, or set ${set('single')} and leave the master's name out`,
};

function adviceFor(kind: WrongKind, setting: TypeSetting = 'KVSTORE_TYPE'): string {
  const older = setting.replace('KVSTORE', 'REDIS');
  return ADVICE[kind]((type) => `${setting}=${type} (${older}=${type})`);
}

/** The other side answers, but cannot count. */
export class AwayError extends Error {}

/** The server is not what the settings say, and cannot count. */
export class WrongKindError extends AwayError {
  override readonly name = 'WrongKindError';
  readonly kind: WrongKind;
  /** What the server is and the setting to change; names no address. */
  readonly advice: string;
  constructor(kind: WrongKind, setting: TypeSetting | undefined, answer: string) {
    const advice = adviceFor(kind, setting);
    // Without the arguments of the command, which some servers repeat.
    super(`${advice}: ${answer.replace(/, with args .*/s, '')}`);
    this.kind = kind;
    this.advice = advice;
  }
}

/** A single server's answer to a client that takes it for a node of a cluster. */
export function isAlone(answer: string): boolean {
  return answer.startsWith('ERR This instance has cluster support disabled');
}

/** A server's answer to a command that only sentinels know. */
export function isUnknownCommand(answer: string): boolean {
  return /^ERR unknown command/i.test(answer);
}

/** A cluster node's answers to a client that takes it for the only server. */
const MISPLACED = /^MOVED \d|^(?:ERR )?Script attempted to access a non local key/;

export function isOfCluster(answer: string): boolean {
  return MISPLACED.test(answer);
}

/** The answer of a node whose cluster is down. A node with all slots gives it too, for a while: it counts at the first connection alone. */
export function isClusterDown(answer: string): boolean {
  return answer.startsWith('CLUSTERDOWN ');
}
