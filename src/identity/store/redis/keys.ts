/**
 * The keys of the store. Each lies on its own: nothing needs two of them in one slot. A session's key
 * lives as long as the session, so deleting it ends the session and every token of it, for good: a session
 * of the same id later is another incarnation (`incarnation.ts`).
 */
const PREFIX = 'identity:';

export const userKey = (id: string): string => `${PREFIX}user:${id}`;
export const sessionKey = (id: string): string => `${PREFIX}session:${id}`;
export const tokenKey = (id: string): string => `${PREFIX}token:${id}`;

/** A set of the ids of all users. */
export const USERS_KEY = `${PREFIX}users`;
/** A sorted set of the ids of a user's sessions by their end; may name some that are over. */
export const sessionsOfKey = (userId: string): string => `${PREFIX}sessions-of:${userId}`;
/** A hash from id to record. */
export const API_KEYS_KEY = `${PREFIX}api-keys`;
