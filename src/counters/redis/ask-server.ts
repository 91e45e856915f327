import { type Redis } from 'ioredis';
import { toReason } from '../../platform/errors';
import { isReplyError } from './reply-error';
import { isCommandForbidden, isRedisAway, isWrongServer } from './store-errors';
import {
  AwayError,
  isOfCluster,
  isUnknownCommand,
  WrongKindError,
  type TypeSetting,
} from './wrong-kind';

/** What a server answers that is asked about keys which no counter has. */
export interface ServerAnswers {
  /** The words in which the server forbids EXPIRE, without which counters have no end; undefined when it does not. */
  readonly expireRefused: string | undefined;
  /** The words in which it leaves a key to another node of its cluster; undefined: it does not, as far as it says. */
  readonly moved: string | undefined;
  /** It took every key that it was asked about. */
  readonly takesAll: boolean;
}

export interface AskServerOptions {
  /** It is the only server: no node of a cluster, and named by no sentinel. */
  readonly isAlone: boolean;
  readonly typeSetting?: TypeSetting | undefined;
}

/** No counter has these names: theirs end in `_` and a number, `~g` or `~s`. */
const NO_KEY = 'weir:no-key';

/**
 * One in each sixteenth of the slots of a cluster, so that its nodes say of some that they lie elsewhere. Behind a proxy they lie
 * on its shards.
 */
export const NO_KEYS: readonly string[] = [
  0, 22, 62, 40, 1, 23, 63, 41, 2, 20, 60, 42, 3, 21, 61, 43,
].map((number) => `${NO_KEY}:${String(number)}`);

/**
 * Asks by EXPIRE for keys that do not exist, which proxies know and do not answer themselves. Rejects where the other side cannot
 * count: a proxy without its Redis, a replica, a sentinel. Other answers say nothing of what comes.
 */
export async function askServer(
  client: Redis,
  { isAlone, typeSetting }: AskServerOptions,
): Promise<ServerAnswers> {
  const keys = isAlone ? NO_KEYS : [NO_KEY];
  const answers = await Promise.all(keys.map((key) => refusalOf(client.call('EXPIRE', key, '1'))));
  const refusals = answers.filter((answer) => answer !== undefined);
  // Where one shard of several does not answer, the others are used.
  if (refusals.length === keys.length) await refuseAway(client, refusals, { isAlone, typeSetting });
  return {
    expireRefused: refusals.find(isCommandForbidden),
    moved: isAlone ? refusals.find(isOfCluster) : undefined,
    takesAll: refusals.length === 0,
  };
}

async function refuseAway(
  client: Redis,
  refusals: readonly string[],
  { isAlone, typeSetting }: AskServerOptions,
): Promise<void> {
  const fault = refusals.find((answer) => isWrongServer(answer) || isRedisAway(answer));
  if (isAlone && fault?.startsWith('READONLY') === true)
    throw new WrongKindError('replica', typeSetting, fault);
  if (fault !== undefined)
    throw new AwayError(isRedisAway(fault) ? `the proxy cannot reach its Redis: ${fault}` : fault);
  const [unknown] = refusals.filter(isUnknownCommand);
  if (unknown === undefined) return;
  const role: unknown = await client.call('ROLE').catch(() => undefined);
  if (Array.isArray(role) && role[0] === 'sentinel')
    throw new WrongKindError('sentinel', typeSetting, unknown);
}

/** What an error says that answers it; undefined: there is none. Rejects when the connection ends. */
async function refusalOf(answer: Promise<unknown>): Promise<string | undefined> {
  try {
    await answer;
    return undefined;
  } catch (error) {
    if (!isReplyError(error)) throw error;
    return toReason(error);
  }
}
