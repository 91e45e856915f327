import { type Redis, ReplyError } from 'ioredis';
import { toReason } from '../../platform/errors';
import { type Credentials } from '../../platform/env-table/credentials';
import { type Script } from './lua';
import { isCommandForbidden, isLackOfScripts, isWrongServer } from './store-errors';

/** What a server lets a connection do, and how far it is. */
export interface Capabilities {
  /** From the first that was sent to its answer. */
  readonly roundTripMs: number;
  /** Why no scripts are used although they were wanted; undefined when there is no such reason. */
  readonly scriptsRefused: string | undefined;
  /** The words in which the server forbids EXPIRE, without which counters have no end; undefined when it does not. */
  readonly expireRefused: string | undefined;
}

export interface HandshakeDeps {
  readonly client: Redis;
  readonly monotonicMs: () => number;
}

export interface HandshakeOptions {
  readonly auth: Credentials | undefined;
  readonly database: number;
  /** The script to load; undefined: no scripts. */
  readonly script: Script | undefined;
  /** What EVAL is asked besides; whoever refuses it fails the handshake. */
  readonly question?: readonly string[] | undefined;
  readonly mustBeMaster: boolean;
}

/** No counter has this name: theirs end in a number, `~g` or `~s`. */
const NO_KEY = 'weir:no-key';

/** The connection ended when it was asked for a script: twemproxy does so at commands that it does not know. */
export class ClosedOnScript extends Error {
  override readonly name = 'ClosedOnScript';
}

/**
 * Makes a new connection ready for use, in two round trips: a server may be far away. By the first it authenticates, selects the
 * database and sees that the server serves (PING is refused while it loads, waits for its master or wants a password); by the
 * second it loads the script, at which some proxies close. Loading by an EVAL without keys tells other proxies too: those that
 * pass a script on to the shard of its first key, which would count in the wrong place, refuse one that has none.
 */
export async function shakeHands(
  { client, monotonicMs }: HandshakeDeps,
  { auth, database, script, question, mustBeMaster }: HandshakeOptions,
): Promise<Capabilities> {
  const sentMs = monotonicMs();
  await allOf([
    auth && authenticate(client, auth),
    database !== 0 && selectDatabase(client, database),
    ping(client),
    mustBeMaster && checkRole(client),
  ]);
  const roundTripMs = monotonicMs() - sentMs;
  const [scriptsRefused, expireRefused] = await allOf([
    script && loadScript(client, script),
    askForExpire(client),
    question && client.call('EVAL', ...question),
  ]);
  return { roundTripMs, scriptsRefused, expireRefused };
}

/** Waits for the answers of one round trip; rejects as the first of them that failed. */
async function allOf<const T extends readonly unknown[]>(
  answers: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(answers);
  return Promise.all(answers);
}

/** So many keys hardly lie in one slot or on one shard, whatever decides that. */
const KEYS_ASKED = Array.from({ length: 16 }, (_, at) => `weir:keys-asked:${String(at)}`);

/** The arguments of an EVAL that uses keys of several slots in the way of our scripts, and writes nothing. */
export function toKeysQuestion(isDeclaringKeys: boolean): readonly string[] {
  if (isDeclaringKeys) return ['return 0', String(KEYS_ASKED.length), ...KEYS_ASKED];
  const undeclared = "for _, key in ipairs(ARGV) do redis.call('GET', key) end return 0";
  return [undeclared, '0', ...KEYS_ASKED];
}

export async function authenticate(
  client: Redis,
  { username, password }: Credentials,
): Promise<void> {
  const args = username === undefined ? [password] : [username, password];
  try {
    await client.call('AUTH', args);
  } catch (error) {
    // A server that does not know AUTH repeats its arguments.
    throw new Error(toReason(error).replaceAll(password, '***'));
  }
}

async function selectDatabase(client: Redis, database: number): Promise<void> {
  try {
    await client.call('SELECT', database);
  } catch (error) {
    if (!isReplyError(error) || isWrongServer(error.message)) throw error;
    throw new Error(`database ${String(database)} cannot be selected: ${toReason(error)}`);
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

/** A server that does not say its role counts as a master: its READONLY would tell. */
async function checkRole(client: Redis): Promise<void> {
  const answer = await client.call('ROLE').catch((error: unknown) => {
    if (!isReplyError(error)) throw error;
    return undefined;
  });
  const role = Array.isArray(answer) ? String(answer[0]) : 'master';
  if (role !== 'master') throw new Error(`it is a ${role}, not the master`);
}

/** Asked with a key that does not exist; what is answered besides a lack of the right says nothing of what comes. */
async function askForExpire(client: Redis): Promise<string | undefined> {
  try {
    await client.call('EXPIRE', NO_KEY, '1');
    return undefined;
  } catch (error) {
    if (!isReplyError(error)) throw error;
    return isCommandForbidden(error.message) ? toReason(error) : undefined;
  }
}

async function loadScript(client: Redis, { source, sha }: Script): Promise<string | undefined> {
  const [loading, calling] = await Promise.all([
    refusalOf(client.call('EVAL', source, '0')),
    refusalOf(client.call('EVALSHA', sha, '0')),
  ]);
  if (loading !== undefined && !isLackOfScripts(loading.message)) throw loading;
  if (loading !== undefined) return toReason(loading);
  // An access list may allow one of the two; what else it answers here says nothing of what comes.
  return calling && isLackOfScripts(calling.message) ? toReason(calling) : undefined;
}

/** The error that a command which asks for scripts is answered; rejects when the connection ends instead. */
async function refusalOf(answer: Promise<unknown>): Promise<Error | undefined> {
  try {
    await answer;
    return undefined;
  } catch (error) {
    if (!isReplyError(error)) throw new ClosedOnScript(toReason(error));
    return error;
  }
}

export function isReplyError(error: unknown): error is Error {
  return error instanceof (ReplyError as typeof Error);
}
