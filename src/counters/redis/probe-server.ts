import { ReplyError, type Redis } from 'ioredis';
import { toReason } from '../../platform/errors';
import { isCommandForbidden, isRedisAway, isWrongServer } from './store-errors';
import {
  AwayError,
  isClusterDown,
  isOfCluster,
  isUnknownCommand,
  WrongKindError,
  type TypeSetting,
} from './wrong-kind';

/** A server's answers to questions about keys that no counter has. */
export interface ServerAnswers {
  /** Its error for a forbidden EXPIRE, without which counters never expire; undefined when it is allowed. */
  readonly expireRefused: string | undefined;
  /** Its error that another node of its cluster has the key; undefined: none. */
  readonly moved: string | undefined;
  /** Its error that its cluster serves no slot of the key; undefined: none. */
  readonly down?: string | undefined;
  /** It accepted every key of the question. */
  readonly takesAll: boolean;
}

export interface ProbeOptions {
  /** It is the only server: not a node of a cluster, and not named by a sentinel. */
  readonly isOnlyServer: boolean;
  readonly typeSetting?: TypeSetting | undefined;
}

/** No counter has these names: theirs end in `_` and a number, `~g` or `~s`. */
const NO_KEY = 'weir:no-key';

/**
 * One in each sixteenth of the slots of a cluster, so that each of its nodes says that some are elsewhere. Behind a proxy they are
 * on its different shards.
 */
export const NO_KEYS: readonly string[] = [
  0, 22, 62, 40, 1, 23, 63, 41, 2, 20, 60, 42, 3, 21, 61, 43,
].map((number) => `${NO_KEY}:${String(number)}`);

/**
 * Sends EXPIRE for missing keys, which proxies know and do not answer themselves. Rejects where the other side cannot count: a
 * proxy without its Redis, a replica, a sentinel. Other answers are ignored.
 */
export async function probeServer(
  client: Redis,
  { isOnlyServer: isAlone, typeSetting }: ProbeOptions,
): Promise<ServerAnswers> {
  const keys = isAlone ? NO_KEYS : [NO_KEY];
  const answers = await Promise.all(keys.map((key) => refusalOf(client.call('EXPIRE', key, '1'))));
  const refusals = answers.filter((answer) => answer !== undefined);
  // Where one shard of several does not answer, the others are used.
  if (refusals.length === keys.length)
    await refuseAway(client, refusals, { isOnlyServer: isAlone, typeSetting });
  return {
    expireRefused: refusals.find(isCommandForbidden),
    moved: isAlone ? refusals.find(isOfCluster) : undefined,
    down: isAlone ? refusals.find(isClusterDown) : undefined,
    takesAll: refusals.length === 0,
  };
}

async function refuseAway(
  client: Redis,
  refusals: readonly string[],
  { isOnlyServer: isAlone, typeSetting }: ProbeOptions,
): Promise<void> {
  const fault = refusals.find((answer) => isWrongServer(answer) || isRedisAway(answer));
  if (isAlone && fault?.startsWith('READONLY') === true)
    throw new WrongKindError('replica', typeSetting, fault);
  if (fault !== undefined)
    throw new AwayError(isRedisAway(fault) ? `the proxy cannot reach its Redis: ${fault}` : fault);
  const [unknown] = refusals.filter(isUnknownCommand);
  if (unknown === undefined) return;
  if (await isSentinel(client)) throw new WrongKindError('sentinel', typeSetting, unknown);
}

export async function isSentinel(client: Redis): Promise<boolean> {
  const role: unknown = await client.call('ROLE').catch(() => undefined);
  return Array.isArray(role) && role[0] === 'sentinel';
}

/** The error that answers it; undefined: none. Rejects when the connection ends. */
async function refusalOf(answer: Promise<unknown>): Promise<string | undefined> {
  try {
    await answer;
    return undefined;
  } catch (error) {
    if (!isReplyError(error)) throw error;
    return toReason(error);
  }
}

/** Whether a server answered with this error; otherwise the connection or the client failed. */
export function isReplyError(error: unknown): error is Error {
  return error instanceof (ReplyError as typeof Error);
}
