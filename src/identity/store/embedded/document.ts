import {
  MalformedRecord,
  parseApiKey,
  parseSession,
  parseToken,
  parseUser,
  type ApiKeyRecord,
  type SessionRecord,
  type TokenRecord,
  type UserRecord,
} from '../records';

/** A value that expires at a Unix millisecond. */
export interface Expiring<T> {
  readonly record: T;
  readonly expiresAtMs: number;
}

/** The content of the embedded store. Immutable: a change makes a new one. */
export interface StoreDocument {
  readonly users: ReadonlyMap<string, UserRecord>;
  readonly sessions: ReadonlyMap<string, Expiring<SessionRecord>>;
  readonly tokens: ReadonlyMap<string, Expiring<TokenRecord>>;
  readonly apiKeys: ReadonlyMap<string, ApiKeyRecord>;
}

const VERSION = 1;

export const EMPTY_DOCUMENT: StoreDocument = {
  users: new Map(),
  sessions: new Map(),
  tokens: new Map(),
  apiKeys: new Map(),
};

export function printDocument({ users, sessions, tokens, apiKeys }: StoreDocument): string {
  const lists = {
    version: VERSION,
    users: [...users.values()],
    sessions: [...sessions.values()],
    tokens: [...tokens.values()],
    apiKeys: [...apiKeys.values()],
  };
  return `${JSON.stringify(lists, undefined, 1)}\n`;
}

/** Reads the output of `printDocument`; throws an error that describes the mistake. */
export function parseDocument(text: string): StoreDocument {
  const lists = parseJson(text);
  if (lists['version'] !== VERSION)
    throw new MalformedRecord([`its version is not ${String(VERSION)}`]);
  return {
    users: readList(lists, 'users', parseUser, ({ id }) => id),
    sessions: readList(lists, 'sessions', expiring(parseSession), ({ record }) => record.id),
    tokens: readList(lists, 'tokens', expiring(parseToken), ({ record }) => record.id),
    apiKeys: readList(lists, 'apiKeys', parseApiKey, ({ id }) => id),
  };
}

/** The message of JSON.parse quotes the text, which is personal data. */
function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new MalformedRecord(['it is not a JSON object']);
}

function readList<T>(
  lists: Readonly<Record<string, unknown>>,
  name: string,
  parse: (input: unknown, where: string) => T,
  idOf: (item: T) => string,
): ReadonlyMap<string, T> {
  const list = lists[name];
  if (!Array.isArray(list)) throw new MalformedRecord([`${name} is not a list`]);
  const items = list.map((item, index) => parse(item, `${name}[${String(index)}]`));
  return new Map(items.map((item) => [idOf(item), item]));
}

function expiring<T>(parse: (input: unknown, where: string) => T) {
  return (input: unknown, where: string): Expiring<T> => {
    const { record, expiresAtMs } = Object(input) as Readonly<Record<string, unknown>>;
    if (typeof expiresAtMs !== 'number')
      throw new MalformedRecord([`${where}.expiresAtMs is not a number`]);
    return { record: parse(record, `${where}.record`), expiresAtMs };
  };
}

type Draft = { -readonly [Name in keyof StoreDocument]: Map<string, EntryOf<Name>> };
type EntryOf<Name extends keyof StoreDocument> =
  StoreDocument[Name] extends ReadonlyMap<string, infer Entry> ? Entry : never;

/** A mutable copy, without expired entries. */
export function draftOf(document: StoreDocument, nowMs: number): Draft {
  const sessions = live(document.sessions, nowMs);
  const tokens = live(document.tokens, nowMs);
  for (const [id, { record }] of tokens) if (!sessions.has(record.sessionId)) tokens.delete(id);
  return {
    users: new Map(document.users),
    sessions,
    tokens,
    apiKeys: new Map(document.apiKeys),
  };
}

export function endSession({ sessions, tokens }: Draft, id: string): boolean {
  for (const [tokenId, { record }] of tokens) if (record.sessionId === id) tokens.delete(tokenId);
  return sessions.delete(id);
}

export function endSessionsOf(draft: Draft, userId: string): void {
  for (const [id, { record }] of draft.sessions) {
    if (record.userId === userId) endSession(draft, id);
  }
}

/** Adds a token that expires with its session at the latest; false when that has ended. */
export function addToken(draft: Draft, record: TokenRecord, expiresAtMs: number): boolean {
  const session: Expiring<SessionRecord> | undefined = draft.sessions.get(record.sessionId);
  if (session === undefined) return false;
  draft.tokens.set(record.id, {
    record,
    expiresAtMs: Math.min(expiresAtMs, session.expiresAtMs),
  });
  return true;
}

function live<T>(entries: ReadonlyMap<string, Expiring<T>>, nowMs: number) {
  return new Map([...entries].filter(([, { expiresAtMs }]) => expiresAtMs > nowMs));
}
