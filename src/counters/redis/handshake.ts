import type { Redis } from 'ioredis';
import { toReason } from '../../platform/errors';
import type { Credentials } from '../../platform/credentials-source';
import { type Script } from './lua/scripts';
import { isReplyError } from './probe-server';
import { isLackOfScripts, isWrongServer } from './store-errors';
import { probeServer, type ProbeOptions, type ServerAnswers } from './probe-server';

/** Servers' own sentences about AUTH: they reveal nothing about a password that is a word in them. */
const SENTENCES = [
  /^WRONGPASS invalid username-password pair(?: or user is disabled\.?)?$/,
  /^NOAUTH Authentication required\.?$/,
  /^NOPERM [Tt]his user has no permissions to run the 'auth' command(?: or its subcommand)?$/,
  /^ERR AUTH <password> called without any password configured for the default user\. Are you sure your configuration is correct\?$/,
  /^ERR Client sent AUTH, but no (?:username-password pair|password) is set(?:\. .*)?$/,
  /^ERR invalid password$/,
  /^ERR wrong number of arguments for 'auth' command$/,
  /^ERR unknown command [`']AUTH[`']$/i,
  /^(?:OOM command not allowed|LOADING Redis is loading|BUSY Redis is busy|MASTERDOWN Link with MASTER|MISCONF Redis is configured|NOREPLICAS Not enough|READONLY You can't write) ?[\w\s',.'()>-]*$/,
];

/** After these words a server repeats the arguments of an unknown command, cut to a length of its own. */
const ARGUMENTS = /(, with args beginning with:).*$/s;

/** A shorter password may be a part of any word. */
const TELLING_LENGTH = 8;

/**
 * The answer of a server to AUTH, without the parts of the password that it repeats. The server's own words stay, even where they
 * contain the letters of the password.
 */
export function withoutPassword(answer: string, password: string): string {
  const words = answer.replace(ARGUMENTS, '$1 ***');
  if (SENTENCES.some((sentence) => sentence.test(words.replace(ARGUMENTS, '')))) return words;
  const literal = password.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const isWithinWords = password.length >= TELLING_LENGTH || /\W/.test(password);
  const repeated = isWithinWords ? literal : `(?<![\\w-])${literal}(?![\\w-])`;
  return words.replaceAll(new RegExp(repeated, 'g'), '***');
}

/** A server's answers to the handshake, and its distance. */
export interface Capabilities extends ServerAnswers {
  /** Duration from the first command to its answer. */
  readonly roundTripMs: number;
  /** Why scripts are not used although the settings ask for them; undefined when there is no such reason. */
  readonly scriptsRefused: string | undefined;
}

export interface HandshakeDeps {
  readonly client: Redis;
  readonly monotonicMs: () => number;
}

export interface HandshakeOptions extends ProbeOptions {
  readonly auth: Credentials | undefined;
  readonly database: number;
  /** The script to load; undefined: no scripts. */
  readonly script: Script | undefined;
  /** Arguments of an additional EVAL; a server that refuses it fails the handshake. */
  readonly question?: readonly string[] | undefined;
  readonly mustBeMaster: boolean;
}

/** The connection ended after a script command: twemproxy does so on commands that it does not know. */
export class ClosedOnScript extends Error {
  override readonly name = 'ClosedOnScript';
}

/**
 * Makes a new connection ready for use, in two round trips, because a server may be far away. The first authenticates and shows
 * that something serves (PING is refused while a server loads, waits for its master or requires a password); the second selects the
 * database, sends a command that only Redis answers, since a proxy answers PING by itself, and loads the script, on which some
 * proxies close. Loading by an EVAL without keys detects other proxies too: those that route a script to the shard of its first
 * key, which would count in the wrong place, refuse one without keys.
 */
export async function shakeHands(
  { client, monotonicMs }: HandshakeDeps,
  options: HandshakeOptions,
): Promise<Capabilities> {
  const { auth, database, script, question, mustBeMaster } = options;
  const sentMs = monotonicMs();
  await allOf([
    auth && authenticate(client, auth),
    database !== 0 && refuseSharedConnection(client, database),
    ping(client),
    mustBeMaster && checkRole(client),
  ]).catch(nameProtocol);
  const roundTripMs = monotonicMs() - sentMs;
  const [, scriptsRefused, answers] = await allOf([
    database !== 0 && selectDatabase(client, database),
    script && loadScript(client, script),
    probeServer(client, options),
    question && client.call('EVAL', ...question),
  ]);
  return { ...answers, roundTripMs, scriptsRefused };
}

/** Envoy's redis_proxy with `protocol_version: RESP3` answers nothing before HELLO 3. */
function nameProtocol(error: unknown): never {
  if (!toReason(error).startsWith('NOPROTO')) throw error;
  throw new Error(
    `it takes RESP3 alone, and this service speaks RESP2: remove protocol_version from Envoy's redis_proxy (${toReason(error)})`,
  );
}

/**
 * Envoy's redis_proxy forwards SELECT to a connection that all its callers share: they would change to the database too, and all
 * would be back in database 0 when that connection is lost. It identifies itself.
 */
async function refuseSharedConnection(client: Redis, database: number): Promise<void> {
  const answer = await client.call('HELLO').catch((error: unknown) => {
    if (!isReplyError(error)) throw error;
    return undefined;
  });
  if (!Array.isArray(answer) || !answer.includes('envoy-redis-proxy')) return;
  throw new Error(
    `it is Envoy's redis_proxy, where selecting database ${String(database)} would move all its callers: leave the database out`,
  );
}

/** Waits for the answers of one round trip; rejects as the first of them that failed. */
async function allOf<const T extends readonly unknown[]>(
  answers: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(answers);
  return Promise.all(answers);
}

/** These are unlikely to share one slot or one shard, whatever the placement. */
const KEYS_ASKED = Array.from({ length: 16 }, (_, at) => `weir:keys-asked:${String(at)}`);

/** The arguments of an EVAL that uses keys of several slots as our scripts do, and writes nothing. */
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
    const isAnswer = isReplyError(error);
    throw new Error(
      isAnswer ? toReason(withoutPassword(error.message, password)) : toReason(error),
    );
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

/** A server that does not report its role counts as a master: its READONLY would show otherwise. */
async function checkRole(client: Redis): Promise<void> {
  const answer = await client.call('ROLE').catch((error: unknown) => {
    if (!isReplyError(error)) throw error;
    return undefined;
  });
  const role = Array.isArray(answer) ? String(answer[0]) : 'master';
  if (role !== 'master') throw new Error(`it is a ${role}, not the master`);
}

async function loadScript(client: Redis, { source, sha }: Script): Promise<string | undefined> {
  const [loading, calling] = await Promise.all([
    refusalOf(client.call('EVAL', source, '0')),
    refusalOf(client.call('EVALSHA', sha, '0')),
  ]);
  if (loading !== undefined && !isLackOfScripts(loading.message)) throw loading;
  if (loading !== undefined) return toReason(loading);
  // An access list may allow one of the two; other answers here say nothing about later calls.
  return calling && isLackOfScripts(calling.message) ? toReason(calling) : undefined;
}

/** The error that answers a script command; rejects when the connection ends instead. */
async function refusalOf(answer: Promise<unknown>): Promise<Error | undefined> {
  try {
    await answer;
    return undefined;
  } catch (error) {
    if (!isReplyError(error)) throw new ClosedOnScript(toReason(error));
    return error;
  }
}
