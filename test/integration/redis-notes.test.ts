import { claimText, noteVersions } from '../../src/counters/redis/notes';
import {
  connectRedisCounters,
  runRedisCounters,
  stopRedisCounters,
} from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { REDIS_STORES, type RedisStore } from '../support/edge/redis-stores';
import { startLyingRedis } from '../support/lying-redis';

jest.setTimeout(60_000);

/** What instances keep in Redis beside counters: texts that one claims, versions that each notes, and limits that they read. */

/** What a call says that comes before the first connection. */
const AWAY = {
  'one server': /redis/,
  sentinels: /sentinel|master/,
  'a cluster': /cluster/,
} as const;
type Name = keyof typeof AWAY;

const KEY = 'weir:time_zones';
const note = (...versions: readonly string[]) => ({ key: KEY, versions, ttlSeconds: 300 });
const claim = (text: string, ttlSeconds = 600) => ({ key: 'weir:key:1', text, ttlSeconds });
const FIELDS = { ann: '7', 'bob "ü"': 'unlimited' };

afterEach(stopRedisCounters);

async function connected({ address }: Pick<RedisStore, 'address'>) {
  const counters = await connectRedisCounters({ address });
  return counters;
}

describe.each(Object.keys(AWAY) as Name[])('on %s', (name) => {
  let store: RedisStore;
  beforeAll(async () => {
    store = await REDIS_STORES[name]();
  });
  afterAll(() => store.stop());

  it('a text is held that the first of several instances claims, and fails before there is a connection', async () => {
    const counters = runRedisCounters({ address: store.address });
    await expect(claimText(counters, claim('first'))).rejects.toThrow(AWAY[name]);
    await counters.untilConnected();
    expect(await claimText(counters, claim('first'))).toBe('first');
    expect(await claimText(counters, claim('second'))).toBe('first');
  });

  it('versions are told to each other', async () => {
    const counters = await connected(store);
    expect(await noteVersions(counters, note('2025c'))).toEqual(['2025c']);
    expect(await noteVersions(counters, note('2026f'))).toEqual(['2025c', '2026f']);
  });

  it('fields of a hash are read, wherever it lies', async () => {
    const keys = ['limits-a', 'limits-b', 'limits-c', 'limits-d'];
    for (const key of keys) await (await store.serverOf(key)).client.hset(key, FIELDS);
    const counters = await connected(store);
    for (const key of keys)
      expect(await counters.readFields(key, ['ann', 'nobody', 'bob "ü"'])).toEqual([
        ...['7', null, 'unlimited'],
      ]);
  });
});

describe('on one server', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.stop());

  it('a claimed text lives longer by each claim of the same text alone', async () => {
    const counters = await connected(server);
    expect(await claimText(counters, claim('first', 100))).toBe('first');
    expect(await claimText(counters, claim('second', 900))).toBe('first');
    expect(await server.client.ttl('weir:key:1')).toBeLessThanOrEqual(100);
    expect(await claimText(counters, claim('first', 900))).toBe('first');
    expect(await server.client.ttl('weir:key:1')).toBeGreaterThan(100);
  });

  it('versions are noted for as long as each goes on writing', async () => {
    const counters = await connected(server);
    expect(await noteVersions(counters, note('2026f'))).toEqual(['2026f']);
    expect(await noteVersions(counters, note('2025c', '2025b'))).toEqual([
      ...['2025b', '2025c', '2026f'],
    ]);
    expect(await server.client.ttl(KEY)).toBeGreaterThan(290);
    const now = Math.floor(Date.now() / 1_000);
    await server.client.set(KEY, `2025c@${String(now - 301)} 2025b@${String(now - 290)}`);
    expect(await noteVersions(counters, note('2026f'))).toEqual(['2025b', '2026f']);
  });

  it('versions are bounded, and what is no note counts for nothing', async () => {
    const counters = await connected(server);
    const now = String(Math.floor(Date.now() / 1_000));
    const many = Array.from({ length: 5_000 }, (_, at) => `v${String(at)}@${now}`).join(' ');
    await server.client.set(
      KEY,
      `x 2025c@ @${now} ${'v'.repeat(99)}@${now} far@99999999999 ${many}`,
    );
    const found = await noteVersions(counters, note('2026f'));
    expect(found.length).toBeLessThanOrEqual(33);
    expect(found).not.toContain('far');
    expect((await server.client.get(KEY))?.length).toBeLessThan(1_000);
  });

  it('a key that holds something else is an error, which names no value', async () => {
    await server.client.sadd(KEY, 'a');
    await server.client.sadd('weir:key:1', 'a');
    await server.client.set('text', 'secret');
    const counters = await connected(server);
    await expect(claimText(counters, claim('first'))).rejects.toThrow('WRONGTYPE');
    await expect(noteVersions(counters, note('2026f'))).rejects.toThrow('WRONGTYPE');
    await expect(counters.readFields('text', ['ann'])).rejects.toThrow(/WRONGTYPE/);
    await expect(counters.readFields('text', ['ann'])).rejects.not.toThrow(/secret|ann/);
  });

  it('that went away fields are an error at once', async () => {
    const counters = await connected(server);
    await server.kill();
    await expect(counters.readFields('limits', ['ann'])).rejects.toThrow(/redis/);
  });
});

it.each([
  ['fewer texts than fields', '*1\r\n$1\r\n7\r\n'],
  ['more texts than fields', '*3\r\n$1\r\n7\r\n$1\r\n8\r\n$1\r\n9\r\n'],
  ['no texts', '*0\r\n'],
  ['a word of as many letters as there are fields', '+OK\r\n'],
  ['an integer', ':2\r\n'],
  ['integers', '*2\r\n:7\r\n:8\r\n'],
  ['lists', '*2\r\n*0\r\n*0\r\n'],
  ['nil', '*-1\r\n'],
])('an answer of %s is an error, so that what was known stays', async (_, reply) => {
  const server = await startLyingRedis();
  server.reply = reply;
  const counters = await connected({
    address: { kind: 'tcp', host: '127.0.0.1', port: server.port },
  });
  await expect(counters.readFields('limits', ['ann', 'bob'])).rejects.toThrow(
    'unexpected reply to HMGET of 2 fields, expected a string or nil for each',
  );
  await counters.stop();
  await server.close();
});
