import type { Observable } from 'rxjs';
import type { ApiKeyRecord, LiveSession, SessionRecord, TokenRecord, UserRecord } from './records';

/** The owner of a valid token. */
export interface TokenOwner extends Pick<TokenRecord, 'sessionId' | 'userId'> {
  /** Which of the successive sessions with this id; undefined (JWTs): the current one. */
  readonly incarnation?: string;
}

export type FoundToken = TokenRecord & TokenOwner;

/** The session and user of a token; undefined where the session has ended or the user was deleted. */
export interface Owner {
  readonly user: UserRecord | undefined;
  readonly remainingMs: number | undefined;
}

/** The store's interface for requests. Every call rejects with `StoreUnavailable`, soon, when the store is unreachable. */
export interface IdentityReader {
  /** Undefined: unknown, expired or revoked. */
  findToken(id: string): Promise<FoundToken | undefined>;
  findOwner(token: TokenOwner): Promise<Owner>;
  /** Empty: API keys are not required. */
  apiKeys(): Promise<readonly ApiKeyRecord[]>;
}

/** Users, sessions, tokens and API keys. The contract suite in `test/contract` is its specification. */
export interface IdentityStore extends IdentityReader {
  /** Its background work, such as following changes of others; completes after `close`. */
  readonly run$: Observable<never>;
  /** Prepares what it can; never rejects: an unreachable store answers `StoreUnavailable`. */
  open(): Promise<void>;
  close(): Promise<void>;

  findUser(id: string): Promise<UserRecord | undefined>;
  listUsers(): Promise<readonly UserRecord[]>;
  /** Adds users or replaces those with the same id. */
  putUsers(users: readonly UserRecord[]): Promise<void>;
  /** Ends the user's sessions too. False: there was none. */
  deleteUser(id: string): Promise<boolean>;

  /** Starts a session without tokens, whatever used its id before. False: there is no such user. */
  createSession(session: SessionRecord, ttlMs: number): Promise<boolean>;
  findSession(id: string): Promise<LiveSession | undefined>;
  listSessions(userId: string): Promise<readonly LiveSession[]>;
  /** Revokes the session and with it all its tokens. False: there was none. */
  deleteSession(id: string): Promise<boolean>;

  /** Lives as long as its session, or for `ttlMs` when that is shorter. False: the session has ended. */
  createToken(token: TokenRecord, ttlMs?: number): Promise<boolean>;
  /** Revokes one token. False: there was none. */
  deleteToken(id: string): Promise<boolean>;

  putApiKey(key: ApiKeyRecord): Promise<void>;
  deleteApiKey(id: string): Promise<boolean>;
}

/** The store cannot be read or written now. The message names it and contains no secret. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly code = 'store_unavailable';
}
