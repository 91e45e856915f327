/** What a server turned out to be that should count. */
export type WrongKind = 'cluster' | 'replica' | 'sentinel';

/** The setting for the kind of store, with its older name. */
export type TypeSetting = 'KVSTORE_TYPE' | 'KVSTORE_PERSECOND_TYPE';

const ADVICE: Readonly<Record<WrongKind, (set: (type: string) => string) => string>> = {
  cluster: (set) => `it is one node of a cluster: set ${set('cluster')}`,
  replica: (set) => `it is a replica: name its master, or its sentinels with ${set('sentinel')}`,
  sentinel: (set) => `it is a sentinel: set ${set('sentinel')} and put the master's name first`,
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
    super(`${advice}: ${answer}`);
    this.kind = kind;
    this.advice = advice;
  }
}

/** A cluster node's answers to a client that takes it for the only server. */
const MISPLACED = /^MOVED \d|^(?:ERR )?Script attempted to access a non local key/;

export function isOfCluster(answer: string): boolean {
  return MISPLACED.test(answer);
}
