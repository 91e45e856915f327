import { done, notFound, type Command } from './command';

const list: Command = {
  usage: '<user>',
  doc: 'prints the live sessions of a user',
  values: ['user'],
  flags: {},
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

const revoke: Command = {
  usage: '<session>',
  doc: 'ends a session: none of its tokens is good any more',
  values: ['session'],
  flags: {},
  async run({ values: [id = ''] }, { store }) {
    const wasThere = await store.deleteSession(id);
    return wasThere ? done([{ sessionId: id }], [`revoked ${id}`]) : notFound('session', id);
  },
};

const revokeAll: Command = {
  usage: '<user>',
  doc: 'ends all sessions of a user',
  values: ['user'],
  flags: {},
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

export const sessionCommands: Readonly<Record<string, Command>> = {
  list,
  revoke,
  'revoke-all': revokeAll,
};
