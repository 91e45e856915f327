import {
  createCredential,
  createId,
  formatCredential,
  hashSecret,
  matchesHash,
  parseCredential,
} from '../credential';
import {
  type ProvisioningCommand,
  type CommandDeps,
  type CommandResult,
  done,
  flagText,
  notFound,
  readTtl,
  toIso,
  wrong,
} from './command';
import { DEFAULT_SESSION } from './session-commands';

interface IssueOptions {
  readonly userId: string;
  /** A live session of the user; undefined: a new one of `sessionMs`. */
  readonly sessionId: string | undefined;
  readonly sessionMs: number;
  /** Undefined: as long as the session. */
  readonly tokenMs: number | undefined;
}

/**
 * User, then session, then token: a failure in between leaves nothing that grants access. The token itself is printed once and
 * never stored.
 */
export async function issueToken(
  { store, nowMs, randomBytes }: CommandDeps,
  { userId, sessionId: given, sessionMs, tokenMs }: IssueOptions,
) {
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

const issue: ProvisioningCommand = {
  doc: 'starts a session (or uses the given one) and prints a token of it, only this once',
  values: ['user'],
  flags: {
    ttl: { value: 'duration', default: DEFAULT_SESSION },
    session: { value: 'session' },
    'token-ttl': { value: 'duration' },
  },
  async run(call, deps) {
    const [userId = ''] = call.values;
    const sessionMs = readTtl(call, 'ttl', DEFAULT_SESSION);
    const tokenMs = readTtl(call, 'token-ttl', undefined);
    const problems = [sessionMs, tokenMs].filter((ttl) => typeof ttl === 'string');
    if (typeof sessionMs === 'string' || typeof tokenMs === 'string') return wrong(...problems);
    const sessionId = flagText(call, 'session');
    const issued = await issueToken(deps, {
      userId,
      sessionId,
      sessionMs: sessionMs ?? 0,
      tokenMs,
    });
    if (issued === 'no-user') return notFound('user', userId);
    if (issued === 'no-session') return notFound('live session of the user', sessionId ?? '');
    return done([issued], [issued.token]);
  },
};

/** A token is never on the command line, where other users of the machine can read it. */
async function readToken({ readInput }: CommandDeps) {
  return parseCredential('token', (await readInput()).trim());
}

const NO_TOKEN = 'standard input holds no token, expected idt_ and 65 letters and digits';

const revoke: ProvisioningCommand = {
  doc: 'revokes one token, read from standard input unless its id is given',
  flags: { id: { value: 'token id' } },
  input: 'token',
  async run(call, deps) {
    const id = flagText(call, 'id') ?? (await readToken(deps))?.id;
    if (id === undefined) return wrong(NO_TOKEN);
    const wasThere = await deps.store.deleteToken(id);
    return wasThere ? done([{ tokenId: id }], [`revoked ${id}`]) : notFound('token', id);
  },
};

const inspect: ProvisioningCommand = {
  doc: 'prints the session and the user of a token on standard input',
  input: 'token',
  async run(_call, deps) {
    const credential = await readToken(deps);
    if (credential === undefined) return wrong(NO_TOKEN);
    return inspectCredential(credential, deps);
  },
};

async function inspectCredential(
  { id, secret }: { readonly id: string; readonly secret: string },
  { store }: CommandDeps,
): Promise<CommandResult> {
  const token = await store.findToken(id);
  if (token === undefined || !matchesHash(secret, token.secretHash)) return notFound('token', id);
  const { user, remainingMs } = await store.findOwner(token);
  const { sessionId, userId, createdAt } = token;
  const isLive = user?.active === true && remainingMs !== undefined;
  const remainingSeconds = Math.floor((remainingMs ?? 0) / 1_000);
  const facts = { tokenId: id, sessionId, userId, createdAt, isLive, remainingSeconds };
  return done(
    [facts],
    Object.entries(facts).map(([name, value]) => `${name}\t${String(value)}`),
  );
}

export const tokenCommands: Readonly<Record<string, ProvisioningCommand>> = {
  issue,
  revoke,
  inspect,
};
