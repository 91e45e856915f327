import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Observable } from 'rxjs';
import { toReason } from '../../../platform/errors';
import type { Logger } from '../../../platform/logger';
import {
  parseApiKey,
  parseSession,
  parseToken,
  parseUser,
  type ApiKeyRecord,
  type LiveSession,
} from '../records';
import { type IdentityStore, StoreUnavailable } from '../store';
import { type RedisStoreOptions, openRedis } from './redis-client';

/**
 * The keys of the store. Each is independent: nothing needs two of them in one slot. A session's key lives as long as the session,
 * so deleting it ends the session and all its tokens for good: a later session with the same id is another incarnation (see
 * `printIncarnate`).
 */
const PREFIX = 'identity:';

const userKey = (id: string): string => `${PREFIX}user:${id}`;
const sessionKey = (id: string): string => `${PREFIX}session:${id}`;
const tokenKey = (id: string): string => `${PREFIX}token:${id}`;

/** A set of the ids of all users. */
const USERS_KEY = `${PREFIX}users`;
/** A sorted set of the ids of a user's sessions by their end; may contain ended ones. */
const sessionsOfKey = (userId: string): string => `${PREFIX}sessions-of:${userId}`;
/** A hash from id to record. */
const API_KEYS_KEY = `${PREFIX}api-keys`;

/**
 * The text of a record with its incarnation: a session that is added again under a revoked id is another one. Tokens name the one
 * they were issued for, so that they stay revoked without being deleted.
 */
function printIncarnate(record: object, incarnation: string): string {
  return JSON.stringify({ ...record, incarnation });
}

/** Splits the result of `printIncarnate`; the incarnation is empty in records written before there were any. */
function splitIncarnate(value: unknown): { incarnation: string; record: unknown } {
  if (typeof value !== 'object' || value === null) return { incarnation: '', record: value };
  const { incarnation, ...record } = value as Readonly<Record<string, unknown>>;
  return { incarnation: typeof incarnation === 'string' ? incarnation : '', record };
}

export interface RedisStoreDeps {
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number;
  /** Unix milliseconds; times to live do not depend on it. */
  readonly nowMs: () => number;
  readonly logger: Logger;
}

/** How long an ended session stays in the index of its user: more than clocks differ. */
const CLOCKS_DIFFER_MS = 86_400_000;
/** Longer than any session, so that the index of a user who does not return expires. */
const INDEX_FOR_MS = 400 * 86_400_000;

/** A revoked API key is refused within this time (issue: 2 s for every revocation). */
const API_KEYS_FOR_MS = 1_000;

/** The store in Redis, for any number of instances. Times to live are Redis' own. */
export function createRedisStore(
  { monotonicMs, nowMs, logger }: RedisStoreDeps,
  options: RedisStoreOptions,
): IdentityStore {
  const redis = openRedis(options, logger);
  let complete: () => void = () => undefined;
  let keptApiKeys:
    { readonly keys: Promise<readonly ApiKeyRecord[]>; readonly atMs: number } | undefined;

  const ask = async <T>(task: () => Promise<T>): Promise<T> => {
    try {
      return await task();
    } catch (error) {
      throw toUnavailable(error);
    }
  };

  const readSession = async (id: string) => {
    const key = sessionKey(id);
    const [text, remainingMs] = await Promise.all([redis.get(key), redis.pttl(key)]);
    if (text === null || remainingMs < 0) return undefined;
    const { incarnation, record } = splitIncarnate(parseJson(text));
    return { session: { ...parseSession(record), remainingMs }, incarnation };
  };
  const readLiveSession = async (id: string): Promise<LiveSession | undefined> =>
    (await readSession(id))?.session;
  const readUser = async (id: string) => {
    const text = await redis.get(userKey(id));
    return text === null ? undefined : parseUser(parseJson(text));
  };
  const readUsers = async (ids: readonly string[]) => {
    const users = await Promise.all(ids.map(readUser));
    return users.filter((user) => user !== undefined);
  };
  const readSessionsOf = async (userId: string) => {
    const ids = await redis.zrange(sessionsOfKey(userId), '0', '-1');
    const sessions = await Promise.all(ids.map(readLiveSession));
    const over = ids.filter((_, index) => sessions[index] === undefined);
    if (over.length > 0) await redis.zrem(sessionsOfKey(userId), ...over);
    return sessions.filter((session) => session !== undefined);
  };
  const readApiKeys = async () => {
    const texts = Object.values(await redis.hgetall(API_KEYS_KEY));
    return texts.map((text) => parseApiKey(parseJson(text)));
  };
  const endSessionsOf = async (userId: string): Promise<void> => {
    const ids = await redis.zrange(sessionsOfKey(userId), '0', '-1');
    await Promise.all(ids.map((id) => redis.del(sessionKey(id))));
    await redis.del(sessionsOfKey(userId));
  };

  return {
    run$: new Observable((subscriber) => {
      complete = () => {
        subscriber.complete();
      };
      if (redis.status === 'end') complete();
    }),
    async open() {
      // While sentinels are unreachable, connecting continues for ever.
      const connected = redis.connect().catch(() => undefined);
      await Promise.race([connected, delay(options.timeoutMs, undefined, { ref: false })]);
    },
    async close() {
      if (redis.status === 'ready') await redis.quit().catch(() => undefined);
      redis.disconnect();
      complete();
    },

    findToken: (id) =>
      ask(async () => {
        const text = await redis.get(tokenKey(id));
        if (text === null) return undefined;
        const { incarnation, record } = splitIncarnate(parseJson(text));
        return { ...parseToken(record), incarnation };
      }),
    findOwner: ({ sessionId, userId, incarnation }) =>
      ask(async () => {
        const [found, user] = await Promise.all([readSession(sessionId), readUser(userId)]);
        const isSame = incarnation === undefined || incarnation === found?.incarnation;
        const isTheirs = isSame && found?.session.userId === userId;
        return { user, remainingMs: isTheirs ? found.session.remainingMs : undefined };
      }),
    apiKeys() {
      if (keptApiKeys === undefined || monotonicMs() - keptApiKeys.atMs > API_KEYS_FOR_MS) {
        const keys = ask(readApiKeys);
        keptApiKeys = { keys, atMs: monotonicMs() };
        keys.catch(() => {
          keptApiKeys = undefined;
        });
      }
      return keptApiKeys.keys;
    },

    findUser: (id) => ask(() => readUser(id)),
    listUsers: () => ask(async () => readUsers(await redis.smembers(USERS_KEY))),
    putUsers: (users) =>
      ask(async () => {
        for (const user of users) {
          await redis.set(userKey(user.id), JSON.stringify(user));
          await redis.sadd(USERS_KEY, user.id);
        }
      }),
    deleteUser: (id) =>
      ask(async () => {
        // The user first: from then on none of their tokens is valid, whatever happens to the rest.
        const wasThere = (await redis.del(userKey(id))) > 0;
        await endSessionsOf(id);
        await redis.srem(USERS_KEY, id);
        return wasThere;
      }),

    createSession: (session, ttlMs) =>
      ask(async () => {
        const { id, userId } = session;
        if ((await redis.exists(userKey(userId))) === 0) return false;
        // The index first, so that revoking all sessions misses none.
        const index = sessionsOfKey(userId);
        await redis.zadd(index, nowMs() + ttlMs, id);
        await redis.zremrangebyscore(index, '-inf', nowMs() - CLOCKS_DIFFER_MS);
        await redis.pexpire(index, INDEX_FOR_MS);
        await redis.set(sessionKey(id), printIncarnate(session, randomUUID()), 'PX', ttlMs);
        return true;
      }),
    findSession: (id) => ask(() => readLiveSession(id)),
    listSessions: (userId) => ask(() => readSessionsOf(userId)),
    deleteSession: (id) => ask(async () => (await redis.del(sessionKey(id))) > 0),

    createToken: (token, ttlMs = Infinity) =>
      ask(async () => {
        const found = await readSession(token.sessionId);
        if (found === undefined || found.session.remainingMs <= 0) return false;
        const milliseconds = Math.min(found.session.remainingMs, ttlMs);
        const text = printIncarnate(token, found.incarnation);
        await redis.set(tokenKey(token.id), text, 'PX', milliseconds);
        return true;
      }),
    deleteToken: (id) => ask(async () => (await redis.del(tokenKey(id))) > 0),

    putApiKey: (key) =>
      ask(async () => {
        await redis.hset(API_KEYS_KEY, key.id, JSON.stringify(key));
        keptApiKeys = undefined;
      }),
    deleteApiKey: (id) =>
      ask(async () => {
        const wasThere = (await redis.hdel(API_KEYS_KEY, id)) > 0;
        keptApiKeys = undefined;
        return wasThere;
      }),
  };
}

/** The message of JSON.parse quotes the text, which is personal data. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('a record is not valid JSON');
  }
}

/** Keeps the message of an error of Redis, which names the command, without the arguments, which contain records. */
function toUnavailable(error: unknown): StoreUnavailable {
  return new StoreUnavailable(`the identity store did not answer: ${toReason(error)}`);
}
