import { matchesHash, parseCredential } from '../credential/credential';
import {
  done,
  flagText,
  notFound,
  readTtl,
  wrong,
  type Command,
  type CommandDeps,
  type CommandResult,
} from './command';
import { issueToken } from './issue-token';
import { DEFAULT_SESSION } from './session-commands';

const issue: Command = {
  usage: `<user> [--ttl <duration, ${DEFAULT_SESSION}>] [--session <session>] [--token-ttl <duration>]`,
  doc: 'starts a session (or takes the given one) and prints a token of it, this one time',
  values: ['user'],
  flags: { ttl: 'one', session: 'one', 'token-ttl': 'one' },
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

/** A token never stands on the command line, where other users of the machine can read it. */
async function readToken({ readInput }: CommandDeps) {
  return parseCredential('token', (await readInput()).trim());
}

const NO_TOKEN = 'standard input holds no token, expected idt_ and 65 letters and digits';

const revoke: Command = {
  usage: '[--id <token id>] < token',
  doc: 'revokes one token, read from standard input unless its id is given',
  values: [],
  flags: { id: 'one' },
  async run(call, deps) {
    const id = flagText(call, 'id') ?? (await readToken(deps))?.id;
    if (id === undefined) return wrong(NO_TOKEN);
    const wasThere = await deps.store.deleteToken(id);
    return wasThere ? done([{ tokenId: id }], [`revoked ${id}`]) : notFound('token', id);
  },
};

const inspect: Command = {
  usage: '< token',
  doc: 'says what a token on standard input stands for',
  values: [],
  flags: {},
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

export const tokenCommands: Readonly<Record<string, Command>> = { issue, revoke, inspect };
