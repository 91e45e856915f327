import { type Redis, ReplyError } from 'ioredis';
import { type RedisAuth } from './address';
import { ADD_SCRIPT } from './lua';
import { isLackOfScripts, toReason } from './store-errors';

/** What a connection turned out to be able to do. */
export interface Abilities {
  /** Why no scripts are used although they were wanted; undefined when there is no such reason. */
  readonly scriptsRefused: string | undefined;
}

/** The connection ended when it was asked for a script: twemproxy answers so to what it does not know. */
export class ClosedOnScript extends Error {
  override readonly name = 'ClosedOnScript';
}

/**
 * Makes a new connection ready for use: authenticates, sees that the server serves (PING is refused
 * while it loads, waits for its master or wants a password), and loads the script. Loading by an EVAL
 * without keys tells proxies too: those that pass a script on to the shard of its first key, which
 * would count in the wrong place, refuse one that has none.
 */
export async function shakeHands(
  client: Redis,
  { auth, scripts }: { readonly auth: RedisAuth | undefined; readonly scripts: boolean },
): Promise<Abilities> {
  if (auth !== undefined) await authenticate(client, auth);
  await ping(client);
  return { scriptsRefused: scripts ? await loadScript(client) : undefined };
}

async function authenticate(client: Redis, { username, password }: RedisAuth): Promise<void> {
  const args = username === undefined ? [password] : [username, password];
  try {
    await client.call('AUTH', args);
  } catch (error) {
    // A server that does not know AUTH repeats its arguments.
    throw new Error(toReason(error).replaceAll(password, '***'));
  }
}

async function ping(client: Redis): Promise<void> {
  try {
    await client.call('PING');
  } catch (error) {
    const isServing = isReplyError(error) && /^(?:ERR|NOPERM)\b/.test(error.message);
    if (!isServing) throw error;
  }
}

async function loadScript(client: Redis): Promise<string | undefined> {
  try {
    await client.call('EVAL', ADD_SCRIPT.source, '0');
    return undefined;
  } catch (error) {
    if (!isReplyError(error)) throw new ClosedOnScript(toReason(error));
    if (!isLackOfScripts(error.message)) throw error;
    return toReason(error);
  }
}

export function isReplyError(error: unknown): error is Error {
  return error instanceof (ReplyError as typeof Error);
}
