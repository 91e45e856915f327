/**
 * The keys of the store. Each is independent: nothing needs two of them in one slot. A session's key lives as long as the session,
 * so deleting it ends the session and all its tokens for good: a later session with the same id is another incarnation (see
 * `printIncarnate`).
 */
const PREFIX = 'identity:';

export const userKey = (id: string): string => `${PREFIX}user:${id}`;
export const sessionKey = (id: string): string => `${PREFIX}session:${id}`;
export const tokenKey = (id: string): string => `${PREFIX}token:${id}`;

/** A set of the ids of all users. */
export const USERS_KEY = `${PREFIX}users`;
/** A sorted set of the ids of a user's sessions by their end; may contain ended ones. */
export const sessionsOfKey = (userId: string): string => `${PREFIX}sessions-of:${userId}`;
/** A hash from id to record. */
export const API_KEYS_KEY = `${PREFIX}api-keys`;

/**
 * The text of a record with its incarnation: a session that is added again under a revoked id is another one. Tokens name the one
 * they were issued for, so that they stay revoked without being deleted.
 */
export function printIncarnate(record: object, incarnation: string): string {
  return JSON.stringify({ ...record, incarnation });
}

/** Splits the result of `printIncarnate`; the incarnation is empty in records written before there were any. */
export function splitIncarnate(value: unknown): { incarnation: string; record: unknown } {
  if (typeof value !== 'object' || value === null) return { incarnation: '', record: value };
  const { incarnation, ...record } = value as Readonly<Record<string, unknown>>;
  return { incarnation: typeof incarnation === 'string' ? incarnation : '', record };
}
