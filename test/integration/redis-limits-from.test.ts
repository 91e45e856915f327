import { startRedisCluster } from '../support/redis-cluster';
import { runRedisCounters, stopRedisCounters } from '../support/redis-counters';
import { startSentinels } from '../support/redis-sentinels';
import { startRedisServer } from '../support/redis-server';

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
  it('from one server', async () => {
    const { address } = await one();
    const counters = runRedisCounters({ address });
    await counters.untilConnected();
    expect(await counters.readFields(KEY, ASKED)).toEqual(READ);
  });

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
