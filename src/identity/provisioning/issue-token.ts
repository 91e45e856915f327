import { createCredential, createId, formatCredential, hashSecret } from '../credential/credential';
import { toIso, type CommandDeps } from './command';

export interface IssuedToken {
  /** The token itself: printed once, kept nowhere. */
  readonly token: string;
  readonly tokenId: string;
  readonly sessionId: string;
}

export interface IssueOptions {
  readonly userId: string;
  /** A live session of the user; undefined: a new one of `sessionMs`. */
  readonly sessionId: string | undefined;
  readonly sessionMs: number;
  /** Undefined: as long as the session. */
  readonly tokenMs: number | undefined;
}

/** User, then session, then token: whatever fails in between leaves nothing that lets anybody in. */
export async function issueToken(
  { store, nowMs, randomBytes }: CommandDeps,
  { userId, sessionId: given, sessionMs, tokenMs }: IssueOptions,
): Promise<IssuedToken | 'no-user' | 'no-session'> {
  const createdAt = toIso(nowMs());
  const sessionId = given ?? createId(randomBytes);
  if (given === undefined) {
    const isCreated = await store.createSession({ id: sessionId, userId, createdAt }, sessionMs);
    if (!isCreated) return 'no-user';
  } else if ((await store.findSession(given))?.userId !== userId) {
    return 'no-session';
  }
  const credential = createCredential(randomBytes);
  const { id, secret } = credential;
  const record = { id, secretHash: hashSecret(secret), sessionId, userId, createdAt };
  if (!(await store.createToken(record, tokenMs))) return 'no-session';
  return { token: formatCredential('token', credential), tokenId: id, sessionId };
}
