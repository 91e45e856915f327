import { slotOf } from '../../src/counters/redis/cluster/slots';
import type { RedisCountersOptions } from '../../src/counters/redis/options';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import type { RedisServer } from '../support/edge/redis-server';

jest.setTimeout(60_000);

const SERVICE = { startupInitialMs: 1_000, startupMaxMs: 1_000, timeoutMs: 10_000 };

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterEach(stopRedisCounters);
afterAll(() => cluster.stop());

async function connected(options: Partial<RedisCountersOptions> = SERVICE) {
  const counters = await connectRedisCounters({ address: cluster.address, ...options });
  return counters;
}

/** Keys of which so many lie on each master. */
async function keysOf(server: RedisServer, count: number) {
  const keys: string[] = [];
  while (keys.length < count) {
    const key = freshKey();
    if ((await cluster.ownerOf(key)) === server) keys.push(key);
  }
  return keys;
}

describe('answers of nodes', () => {
  it('NOSCRIPT: the script is sent again and nothing is counted twice', async () => {
    const counters = await connected();
    const keys = Array.from({ length: 30 }, () => freshKey());
    await Promise.all(cluster.masters.map(({ client }) => client.script('FLUSH')));
    const { after } = await counters.add(batch(keys.map((key) => increment(key))));
    expect(after).toEqual(keys.map(() => 1));
    const runs = keys.map((_, at) => at + 1);
    const again = await counters.add(
      batch(
        keys.map((key) => increment(key)),
        runs,
      ),
    );
    expect(again.after).toEqual(keys.map(() => 2));
  });
});

describe('batches', () => {
  it('ask each node once', async () => {
    const counters = await connected();
    const keys = Array.from({ length: 300 }, () => freshKey());
    // A cluster is connected when one of its nodes is, and a node that connects has calls of its own.
    await counters.add(batch(keys.map((key) => increment(key))));
    await Promise.all(cluster.masters.map(({ client }) => client.config('RESETSTAT')));
    await counters.add(batch(keys.map((key) => increment(key))));
    const infos = await Promise.all(
      cluster.masters.map(({ client }) => client.info('commandstats')),
    );
    const calls = infos.map((info) => /cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1]);
    expect(calls).toEqual(cluster.masters.map(() => '1'));
  });

  it('hold back atomically where a run lies on one node, and say once when it does not', async () => {
    const counters = await connected();
    const [one, two] = cluster.masters as [RedisServer, RedisServer];
    const [a = '', b = ''] = await keysOf(one, 2);
    const [c = ''] = await keysOf(two, 1);
    await counters.add(batch([increment(a, 10), increment(c, 10)]));
    expect(await counters.add(batch([increment(a), increment(b)], [2]))).toMatchObject({
      after: [11, 0],
      held: [false, true],
    });
    expect(counters.kinds()).not.toContain('hold-back-not-atomic');
    for (const after of [11, 12])
      expect(await counters.add(batch([increment(c), increment(b)], [2]))).toMatchObject({
        after: [after, 0],
        held: [false, true],
      });
    expect(counters.kinds().filter((kind) => kind === 'hold-back-not-atomic')).toHaveLength(1);
    expect(await one.client.exists(b)).toBe(0);
  });
});

it('knows the slot of every key as the server does', async () => {
  const { client } = cluster.masters[0] as RedisServer;
  const keys = [
    '',
    'a',
    '{a}b',
    'x{a}',
    '{}a',
    'a{',
    'a{b',
    'a{}{b}',
    'grüße_🦊',
    'a{ü}',
    '}{a}',
    '\0',
  ];
  for (const key of keys)
    expect([key, slotOf(key)]).toEqual([key, await client.cluster('KEYSLOT', key)]);
});
