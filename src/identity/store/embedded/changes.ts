import type { SessionRecord, TokenRecord } from '../records';
import type { Expiring, StoreDocument } from './document';

type Draft = { -readonly [Name in keyof StoreDocument]: Map<string, EntryOf<Name>> };
type EntryOf<Name extends keyof StoreDocument> =
  StoreDocument[Name] extends ReadonlyMap<string, infer Entry> ? Entry : never;

/** A copy that may be changed, without what has expired. */
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

/** Ends a session and its tokens. */
export function endSession({ sessions, tokens }: Draft, id: string): boolean {
  for (const [tokenId, { record }] of tokens) if (record.sessionId === id) tokens.delete(tokenId);
  return sessions.delete(id);
}

export function endSessionsOf(draft: Draft, userId: string): void {
  for (const [id, { record }] of draft.sessions) {
    if (record.userId === userId) endSession(draft, id);
  }
}

/** Adds a token that ends with its session at the latest; false when that is over. */
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
