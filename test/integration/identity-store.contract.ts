import type { ApiKeyRecord, TokenRecord } from '../../src/identity/store/records';
import type { IdentityStore } from '../../src/identity/store/store';
import { eventually } from '../support/edge/eventually';
import { eventuallyWithin } from '../support/edge/figure';
import { ANN } from '../support/identity';

export interface StoreHarness {
  readonly store: IdentityStore;
  /** Another one on the same data. */
  openOther(): Promise<IdentityStore>;
  /** All that the store has written, as it lies there. */
  dump(): Promise<string>;
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const NOW = '2026-01-01T00:00:00.000Z';
const HASH = 'ab'.repeat(32);
const BOB = { ...ANN, id: 'bob', userName: 'bob' };

const token = (id: string, sessionId = 's1', userId = 'ann'): TokenRecord => ({
  id,
  secretHash: HASH,
  sessionId,
  userId,
  createdAt: NOW,
});

/** What every store of the identity service keeps. */
export function identityStoreContract(name: string, start: () => Promise<StoreHarness>): void {
  describe(`the identity store ${name}`, () => {
    let harness: StoreHarness;
    let store: IdentityStore;

    beforeEach(async () => {
      harness = await start();
      store = harness.store;
    });
    afterEach(() => harness.stop());

    const openSession = (id = 's1', userId = 'ann', ttlMs = HOUR_MS) =>
      store.createSession({ id, userId, createdAt: NOW }, ttlMs);

    const isGood = async (id: string): Promise<boolean> => {
      const found = await store.findToken(id);
      return found !== undefined && (await store.findOwner(found)).remainingMs !== undefined;
    };

    it('is empty at first', async () => {
      expect(await store.listUsers()).toEqual([]);
      expect(await store.apiKeys()).toEqual([]);
      expect(await store.findUser('ann')).toBeUndefined();
      expect(await store.findToken('t1')).toBeUndefined();
      expect(await store.findSession('s1')).toBeUndefined();
      expect(await store.listSessions('ann')).toEqual([]);
      expect(await store.findOwner(token('t1'))).toEqual({
        user: undefined,
        remainingMs: undefined,
      });
    });

    it('keeps users as they are, and replaces them by id', async () => {
      await store.putUsers([ANN, BOB]);
      expect(await store.findUser('ann')).toEqual(ANN);
      await store.putUsers([{ ...ANN, active: false }]);
      expect((await store.findUser('ann'))?.active).toBe(false);
      const users = await store.listUsers();
      expect(users.map(({ id }) => id).toSorted()).toEqual(['ann', 'bob']);
    });

    it('leads from a token to its user and the time of its session', async () => {
      await store.putUsers([ANN]);
      expect(await openSession()).toBe(true);
      expect(await store.createToken(token('t1'))).toBe(true);
      expect(await store.findToken('t1')).toMatchObject(token('t1'));
      const { user, remainingMs = 0 } = await store.findOwner(token('t1'));
      expect(user).toEqual(ANN);
      expect(remainingMs).toBeGreaterThan(HOUR_MS - 10_000);
      expect(remainingMs).toBeLessThanOrEqual(HOUR_MS);
    });

    it('opens no session for nobody and makes no token without a session', async () => {
      expect(await openSession()).toBe(false);
      await store.putUsers([ANN]);
      expect(await store.createToken(token('t1'))).toBe(false);
      expect(await store.findToken('t1')).toBeUndefined();
    });

    it('ends a session with all that belongs to it when it is deleted', async () => {
      await store.putUsers([ANN]);
      await openSession();
      await store.createToken(token('t1'));
      expect(await store.deleteSession('s1')).toBe(true);
      expect(await store.deleteSession('s1')).toBe(false);
      expect(await store.findSession('s1')).toBeUndefined();
      expect((await store.findOwner(token('t1'))).remainingMs).toBeUndefined();
      expect(await store.createToken(token('t2'))).toBe(false);
    });

    it('revokes one token and leaves the others of the session', async () => {
      await store.putUsers([ANN]);
      await openSession();
      await store.createToken(token('t1'));
      await store.createToken(token('t2'));
      expect(await store.deleteToken('t1')).toBe(true);
      expect(await store.deleteToken('t1')).toBe(false);
      expect(await store.findToken('t1')).toBeUndefined();
      expect(await store.findToken('t2')).toMatchObject(token('t2'));
    });

    it.each<[string, () => Promise<unknown>]>([
      ['revoked', () => store.deleteSession('s1')],
      ['ended with its user', () => store.deleteUser('ann')],
      ['replaced by another', () => Promise.resolve()],
    ])('brings no token back with the id of a session that was %s', async (_, end) => {
      await store.putUsers([ANN]);
      await openSession();
      await store.createToken(token('t1'));
      expect(await isGood('t1')).toBe(true);
      await end();
      await store.putUsers([ANN]);
      expect(await openSession()).toBe(true);
      expect(await isGood('t1')).toBe(false);
      await store.createToken(token('t2'));
      expect(await isGood('t2')).toBe(true);
    });

    it('knows the session of a JWT, which names no token, by its id', async () => {
      await store.putUsers([ANN]);
      await openSession();
      const { remainingMs } = await store.findOwner({ sessionId: 's1', userId: 'ann' });
      expect(remainingMs).toBeGreaterThan(0);
    });

    it('lists the live sessions of one user', async () => {
      await store.putUsers([ANN, BOB]);
      await openSession('s1');
      await openSession('s2');
      await openSession('s3', 'bob');
      await store.deleteSession('s2');
      const sessions = await store.listSessions('ann');
      expect(sessions).toEqual([
        { id: 's1', userId: 'ann', createdAt: NOW, remainingMs: expect.any(Number) as number },
      ]);
    });

    it('forgets sessions and tokens when their time is over', async () => {
      await store.putUsers([ANN]);
      await openSession('s1', 'ann', 30);
      await openSession('s2');
      await store.createToken(token('t1', 's1'));
      await store.createToken(token('t2', 's2'), 30);
      await eventually(async () => {
        expect(await store.findSession('s1')).toBeUndefined();
        expect(await store.findToken('t1')).toBeUndefined();
        expect(await store.findToken('t2')).toBeUndefined();
        expect(await store.listSessions('ann')).toHaveLength(1);
      });
    });

    it('never lets a token outlive its session', async () => {
      await store.putUsers([ANN]);
      await openSession('s1', 'ann', 30);
      await store.createToken(token('t1', 's1'), HOUR_MS);
      await eventually(async () => {
        expect(await store.findToken('t1')).toBeUndefined();
      });
    });

    it('does not take a session of somebody else for that of a token', async () => {
      await store.putUsers([ANN, BOB]);
      await openSession('s1', 'bob');
      expect((await store.findOwner(token('t1', 's1', 'ann'))).remainingMs).toBeUndefined();
    });

    it('deletes a user with all sessions', async () => {
      await store.putUsers([ANN]);
      await openSession('s1');
      await openSession('s2');
      await store.createToken(token('t1'));
      expect(await store.deleteUser('ann')).toBe(true);
      expect(await store.deleteUser('ann')).toBe(false);
      expect(await store.listUsers()).toEqual([]);
      expect(await store.findSession('s1')).toBeUndefined();
      expect(await store.findSession('s2')).toBeUndefined();
      await store.putUsers([ANN]);
      expect((await store.findOwner(token('t1'))).remainingMs).toBeUndefined();
    });

    it('keeps API keys', async () => {
      const key: ApiKeyRecord = { id: 'k1', secretHash: HASH, name: 'a shop', createdAt: NOW };
      await store.putApiKey(key);
      expect(await store.apiKeys()).toEqual([key]);
      expect(await store.deleteApiKey('k1')).toBe(true);
      expect(await store.deleteApiKey('k1')).toBe(false);
      expect(await store.apiKeys()).toEqual([]);
    });

    it.each(['__proto__', 'constructor', 'a:b', 'a@b.c'])('takes the id %s', async (id) => {
      await store.putUsers([{ ...ANN, id }]);
      expect((await store.findUser(id))?.id).toBe(id);
      expect(await store.findUser('toString')).toBeUndefined();
    });

    it('shows another instance what was written, within 2 s', async () => {
      const other = await harness.openOther();
      await store.putUsers([ANN]);
      await openSession();
      await store.createToken(token('t1'));
      await store.putApiKey({ id: 'k1', secretHash: HASH, name: '', createdAt: NOW });
      const limit = { name: 'seen', belowMs: 2_000 };
      await eventuallyWithin(async () => {
        expect(await other.findToken('t1')).toMatchObject(token('t1'));
        expect(await other.apiKeys()).toHaveLength(1);
      }, limit);
      await store.deleteSession('s1');
      await store.deleteApiKey('k1');
      await eventuallyWithin(async () => {
        expect((await other.findOwner(token('t1'))).remainingMs).toBeUndefined();
        expect(await other.apiKeys()).toHaveLength(0);
      }, limit);
    });

    it('loses nothing when two instances write at once', async () => {
      const other = await harness.openOther();
      const ids = Array.from({ length: 10 }, (_, index) => `u${String(index)}`);
      await Promise.all(
        ids.map((id, index) => (index % 2 === 0 ? store : other).putUsers([{ ...ANN, id }])),
      );
      await eventually(async () => {
        const users = await store.listUsers();
        expect(users.map(({ id }) => id).toSorted()).toEqual(ids);
      });
    });

    it('holds the hash of a secret', async () => {
      await store.putUsers([ANN]);
      await openSession();
      await store.createToken(token('t1'));
      expect(await harness.dump()).toContain(HASH);
    });
  });
}
