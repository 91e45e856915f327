import { createId } from '../credential';
import { ID_EXPECTED, isId } from '../store/records';
import {
  done,
  flagText,
  notFound,
  readTtl,
  toIso,
  wrong,
  type ProvisioningCommand,
} from './command';

/** The default length of a session. */
export const DEFAULT_SESSION = '1h';

const add: ProvisioningCommand = {
  doc: 'starts a session without a token, such as the one that the sid of a JWT names',
  values: ['user'],
  flags: { id: { value: 'session' }, ttl: { value: 'duration', default: DEFAULT_SESSION } },
  async run(call, { store, nowMs, randomBytes }) {
    const [userId = ''] = call.values;
    const id = flagText(call, 'id') ?? createId(randomBytes);
    const ttlMs = readTtl(call, 'ttl', DEFAULT_SESSION);
    if (typeof ttlMs === 'string') return wrong(ttlMs);
    if (!isId(id)) return wrong(`--id: expected ${ID_EXPECTED}`);
    if ((await store.findSession(id)) !== undefined)
      return wrong(`--id: there is a session ${id} already`);
    const session = { id, userId, createdAt: toIso(nowMs()) };
    const isCreated = await store.createSession(session, ttlMs ?? 0);
    return isCreated ? done([session], [id]) : notFound('user', userId);
  },
};

const list: ProvisioningCommand = {
  doc: 'prints the live sessions of a user',
  values: ['user'],
  async run({ values: [userId = ''] }, { store }) {
    if ((await store.findUser(userId)) === undefined) return notFound('user', userId);
    const sessions = (await store.listSessions(userId)).map(({ remainingMs, ...session }) => ({
      ...session,
      remainingSeconds: Math.floor(remainingMs / 1_000),
    }));
    const toLine = ({ id, createdAt, remainingSeconds }: (typeof sessions)[number]): string =>
      [id, createdAt, `${String(remainingSeconds)}s left`].join('\t');
    return done(sessions, sessions.map(toLine));
  },
};

const revoke: ProvisioningCommand = {
  doc: 'ends a session and revokes its tokens',
  values: ['session'],
  async run({ values: [id = ''] }, { store }) {
    const wasThere = await store.deleteSession(id);
    return wasThere ? done([{ sessionId: id }], [`revoked ${id}`]) : notFound('session', id);
  },
};

const revokeAll: ProvisioningCommand = {
  doc: 'ends all sessions of a user',
  values: ['user'],
  async run({ values: [userId = ''] }, { store }) {
    if ((await store.findUser(userId)) === undefined) return notFound('user', userId);
    const revoked: string[] = [];
    for (const { id } of await store.listSessions(userId)) {
      if (await store.deleteSession(id)) revoked.push(id);
    }
    return done(
      revoked.map((sessionId) => ({ sessionId })),
      [`revoked ${String(revoked.length)} of ${userId}`],
    );
  },
};

export const sessionCommands: Readonly<Record<string, ProvisioningCommand>> = {
  add,
  list,
  revoke,
  'revoke-all': revokeAll,
};
