import { toReason } from '../../../platform/errors';
import type { Logger } from '../../../platform/logger';
import type { LiveSession, SessionRecord } from '../records';
import { type IdentityStore, StoreUnavailable } from '../store';
import {
  addToken,
  draftOf,
  endSession,
  endSessionsOf,
  type Expiring,
  type StoreDocument,
} from './document';
import { changeDocument, warnOfWriters } from './document-file';
import { createFileWatcher } from './file-watcher';

export interface EmbeddedStoreDeps {
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  readonly logger: Logger;
}

export interface EmbeddedStoreOptions {
  readonly file: string;
}

/** The store in one file, for one machine: several processes may write, and all of them see the changes. */
export function createEmbeddedStore(
  { nowMs, logger }: EmbeddedStoreDeps,
  { file }: EmbeddedStoreOptions,
): IdentityStore {
  const watcher = createFileWatcher(file, logger);

  const live = <T>(entry: Expiring<T> | undefined): Expiring<T> | undefined =>
    entry !== undefined && entry.expiresAtMs > nowMs() ? entry : undefined;
  const toLive = ({ record, expiresAtMs }: Expiring<SessionRecord>): LiveSession => ({
    ...record,
    remainingMs: expiresAtMs - nowMs(),
  });

  const read = <T>(take: (document: StoreDocument) => T): Promise<T> => {
    try {
      return Promise.resolve(take(watcher.current()));
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  };
  /** Checks the file again before an id is refused: it may have been written a moment ago. */
  const readKnown = async <T>(take: (document: StoreDocument) => T | undefined) => {
    const known = take(watcher.current());
    if (known !== undefined) return known;
    await watcher.checkAgain();
    return take(watcher.current());
  };
  /** `apply` returns false when there is nothing to change. */
  const write = async (apply: (draft: ReturnType<typeof draftOf>) => boolean): Promise<boolean> => {
    let isDone = false;
    try {
      const after = await changeDocument(file, (document) => {
        const draft = draftOf(document, nowMs());
        isDone = apply(draft);
        return isDone ? draft : undefined;
      });
      watcher.set(after);
    } catch (error) {
      throw toUnavailable(file, error);
    }
    return isDone;
  };

  return {
    run$: watcher.run$,
    async open() {
      await warnOfWriters(file, logger);
      await watcher.open();
    },
    close() {
      watcher.close();
      return Promise.resolve();
    },

    findToken: (id) => readKnown(({ tokens }) => live(tokens.get(id))?.record),
    async findOwner({ sessionId, userId }) {
      const session = await readKnown(({ sessions }) => live(sessions.get(sessionId)));
      const isTheirs = session?.record.userId === userId;
      return {
        user: watcher.current().users.get(userId),
        remainingMs: isTheirs ? session.expiresAtMs - nowMs() : undefined,
      };
    },
    apiKeys: () => read(({ apiKeys }) => [...apiKeys.values()]),

    findUser: (id) => read(({ users }) => users.get(id)),
    listUsers: () => read(({ users }) => [...users.values()]),
    async putUsers(added) {
      await write(({ users }) => {
        for (const user of added) users.set(user.id, user);
        return added.length > 0;
      });
    },
    deleteUser: (id) =>
      write((draft) => {
        endSessionsOf(draft, id);
        return draft.users.delete(id);
      }),

    createSession: (record, ttlMs) =>
      write((draft) => {
        if (!draft.users.has(record.userId)) return false;
        endSession(draft, record.id);
        draft.sessions.set(record.id, { record, expiresAtMs: nowMs() + ttlMs });
        return true;
      }),
    findSession: (id) =>
      read(({ sessions }) => {
        const session = live(sessions.get(id));
        return session && toLive(session);
      }),
    listSessions: (userId) =>
      read(({ sessions }) =>
        [...sessions.values()]
          .filter((session) => session.record.userId === userId && live(session) !== undefined)
          .map(toLive),
      ),
    deleteSession: (id) => write((draft) => endSession(draft, id)),

    createToken: (token, ttlMs = Infinity) =>
      write((draft) => addToken(draft, token, nowMs() + ttlMs)),
    deleteToken: (id) => write(({ tokens }) => tokens.delete(id)),

    async putApiKey(key) {
      await write(({ apiKeys }) => apiKeys.set(key.id, key).size > 0);
    },
    deleteApiKey: (id) => write(({ apiKeys }) => apiKeys.delete(id)),
  };
}

export function toUnavailable(file: string, cause: unknown): StoreUnavailable {
  const reason = toReason(cause);
  return new StoreUnavailable(`the store file ${file} cannot be used: ${reason}`, { cause });
}
