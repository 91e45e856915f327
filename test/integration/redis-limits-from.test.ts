import { startLyingRedis } from '../support/lying-redis';
import { startRedisCluster } from '../support/edge/redis-cluster';
import { runRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startSentinels } from '../support/edge/redis-sentinels';
import { startRedisServer } from '../support/edge/redis-server';

jest.setTimeout(60_000);

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(endings.splice(0).map((end) => end()));
});

const KEY = 'tenant_limits';
const FIELDS = { ann: '7', 'bob "ü"': 'unlimited' };
const ASKED = ['ann', 'nobody', 'bob "ü"'];
const READ = ['7', null, 'unlimited'];

async function one() {
  const server = await startRedisServer();
  endings.push(() => server.stop());
  await server.client.hset(KEY, FIELDS);
  return server;
}

describe('fields of a hash are read', () => {
  it('from the master that sentinels name', async () => {
    const setup = await startSentinels();
    endings.push(() => setup.stop());
    await setup.servers[0].client.hset(KEY, FIELDS);
    const counters = runRedisCounters({ address: setup.address });
    await counters.untilConnected();
    expect(await counters.readFields(KEY, ASKED)).toEqual(READ);
  });

  it('from the node of a cluster that owns them', async () => {
    const cluster = await startRedisCluster();
    endings.push(() => cluster.stop());
    const keys = ['limits-a', 'limits-b', 'limits-c', 'limits-d'];
    for (const key of keys) await (await cluster.ownerOf(key)).client.hset(key, FIELDS);
    const counters = runRedisCounters({ address: cluster.address });
    await counters.untilConnected();
    for (const key of keys) expect(await counters.readFields(key, ASKED)).toEqual(READ);
  });
});

it('a key that is no hash is an error that names no value', async () => {
  const server = await one();
  await server.client.set('text', 'secret');
  const counters = runRedisCounters({ address: server.address });
  await counters.untilConnected();
  await expect(counters.readFields('text', ['ann'])).rejects.toThrow(/WRONGTYPE/);
  await expect(counters.readFields('text', ['ann'])).rejects.not.toThrow(/secret|ann/);
});

it('a server that is away is an error at once', async () => {
  const server = await one();
  const counters = runRedisCounters({ address: server.address });
  await counters.untilConnected();
  await server.kill();
  await expect(counters.readFields(KEY, ASKED)).rejects.toThrow(/redis/);
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
  endings.push(server.close);
  server.reply = reply;
  const counters = runRedisCounters({
    address: { kind: 'tcp', host: '127.0.0.1', port: server.port },
  });
  await counters.untilConnected();
  await expect(counters.readFields(KEY, ['ann', 'bob'])).rejects.toThrow(
    'unexpected reply to HMGET of 2 fields, expected a string or nil for each',
  );
});
