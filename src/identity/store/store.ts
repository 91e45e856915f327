import type { Observable } from 'rxjs';
import type { ApiKeyRecord, LiveSession, SessionRecord, TokenRecord, UserRecord } from './records';

/** What a token that was found right leads to. */
export interface TokenOwner extends Pick<TokenRecord, 'sessionId' | 'userId'> {
  /** Which of the sessions that had this id, one after another; undefined (JWTs): the one that has it now. */
  readonly incarnation?: string;
}

export type FoundToken = TokenRecord & TokenOwner;

/** Whom a token stands for; undefined where the session is over or the user is gone. */
export interface Owner {
  readonly user: UserRecord | undefined;
  readonly remainingMs: number | undefined;
}

/** What the service asks on the way of a request. Every call rejects with `StoreUnavailable`, soon, when the store is away. */
export interface IdentityReader {
  /** Undefined: unknown, expired or revoked. */
  findToken(id: string): Promise<FoundToken | undefined>;
  findOwner(token: TokenOwner): Promise<Owner>;
  /** None: API keys are not asked for. */
  apiKeys(): Promise<readonly ApiKeyRecord[]>;
}

/** Users, sessions, tokens and API keys. The contract suite in `test/contract` says what every store keeps. */
export interface IdentityStore extends IdentityReader {
  /** All that it does by itself, such as following changes of others; completes after `close`. */
  readonly run$: Observable<never>;
  /** Makes ready what can be; never rejects: a store that is away answers `StoreUnavailable`. */
  open(): Promise<void>;
  close(): Promise<void>;

  findUser(id: string): Promise<UserRecord | undefined>;
  listUsers(): Promise<readonly UserRecord[]>;
  /** Adds users or replaces those of the same id. */
  putUsers(users: readonly UserRecord[]): Promise<void>;
  /** Ends the sessions of the user too. False: there was none. */
  deleteUser(id: string): Promise<boolean>;

  /** Starts a session without tokens, whatever had its id before. False: there is no such user. */
  createSession(session: SessionRecord, ttlMs: number): Promise<boolean>;
  findSession(id: string): Promise<LiveSession | undefined>;
  listSessions(userId: string): Promise<readonly LiveSession[]>;
  /** Revokes the session and with it all its tokens. False: there was none. */
  deleteSession(id: string): Promise<boolean>;

  /** Lives as long as its session, or for `ttlMs` when that is shorter. False: the session is over. */
  createToken(token: TokenRecord, ttlMs?: number): Promise<boolean>;
  /** Revokes one token. False: there was none. */
  deleteToken(id: string): Promise<boolean>;

  putApiKey(key: ApiKeyRecord): Promise<void>;
  deleteApiKey(id: string): Promise<boolean>;
}

/** The store cannot be read or written now. The message names it and holds no secret. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly code = 'store_unavailable';
}
