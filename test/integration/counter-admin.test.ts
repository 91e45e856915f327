import type { CounterStore } from '../../src/app/store/store';
import { windowsAt } from '../../src/core/planning/windows';
import { findCounters } from '../../src/core/planning/plan';
import type { Increment } from '../../src/core/ports';
import { RESET, startCounterInstance } from '../support/edge/counter-instance';
import { eventually } from '../support/edge/eventually';
import { startMemcachedServer } from '../support/edge/memcached-server';
import { startRedisCluster } from '../support/edge/redis-cluster';
import { startSentinels } from '../support/edge/redis-sentinels';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { request } from '../support/requests';
import { rulesOf } from '../support/rules';
import { readCounters } from '../support/read-counters';

const RULES = rulesOf('shop', [
  { key: 'user', limit: [2, 'YEAR'] },
  { key: 'burst', limit: [2, 'SECOND'] },
  { key: 'pace', limit: { requestsPerUnit: 2, unit: 'HOUR', algorithm: 'gcra' } },
  { key: 'slide', limit: { requestsPerUnit: 2, unit: 'YEAR', algorithm: 'sliding_window' } },
]);
const ANN = request('shop', ['user=ann']);
/** Of a quiet machine; a message takes less than one. */
const TOLD_WITHIN_MS = 100;

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function startInstance(env: Readonly<Record<string, string>>) {
  const instance = await startCounterInstance(RULES, env);
  endings.push(instance.stop);
  return instance;
}
type Instance = Awaited<ReturnType<typeof startInstance>>;

function incrementOf(text: string, hits: number): Increment {
  const windows = windowsAt(Math.floor(Date.now() / 1_000));
  const [found] = findCounters(RULES, request('shop', [text]), windows, { keyPrefix: '' });
  if (typeof found !== 'object') throw new Error(`nothing limits ${text}`);
  return { ...found, hits };
}

/** Counts hits; answers whether the local cache knew the counter to be over. */
async function hit({ store }: { store: CounterStore }, hits = 1, text = 'user=ann') {
  const increments = [incrementOf(text, hits)];
  const nowSeconds = Date.now() / 1_000;
  const { knownOverLimit: known, after } = await store.counters.add({
    increments,
    groupEnds: undefined,
    nowSeconds,
  });
  return { known: known?.[0] === true, after: after[0] };
}

const urlOf = ({ port }: RedisServer) => `127.0.0.1:${String(port)}`;

async function startRedis(...settings: readonly (readonly string[])[]): Promise<RedisServer> {
  const server = await startRedisServer({ settings });
  endings.push(() => server.stop());
  return server;
}

async function untilListening({ client }: RedisServer, listeners: number): Promise<void> {
  await eventually(async () => {
    const [, counted] = (await client.call('PUBSUB', 'NUMSUB', 'weir:forget')) as [string, number];
    expect(counted).toBe(listeners);
  });
}

function knows({ store }: Instance, text = 'user=ann'): boolean | undefined {
  return store.localCache?.knows(incrementOf(text, 1), Date.now() / 1_000);
}

/** Both caches know that the counter is over its limit. */
async function bothKnow(a: Instance, b: Instance, text = 'user=ann'): Promise<void> {
  for (const instance of [a, b]) {
    await hit(instance, 2, text);
    await hit(instance, 1, text);
  }
  expect([knows(a, text), knows(b, text)]).toEqual([true, true]);
}

async function untilForgotten(instance: Instance, text = 'user=ann'): Promise<number> {
  const since = performance.now();
  await eventually(
    () => {
      expect(knows(instance, text)).toBe(false);
    },
    { everyMs: 1 },
  );
  return performance.now() - since;
}

describe('every store', () => {
  const starts: Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>> = {
    'two Redis': async () => ({
      KVSTORE_URL: urlOf(await startRedis()),
      KVSTORE_PERSECOND: 'true',
      KVSTORE_PERSECOND_URL: urlOf(await startRedis()),
    }),
    'a cluster': async () => {
      const cluster = await startRedisCluster();
      endings.push(() => cluster.stop());
      const url = cluster.masters.map(urlOf).join(',');
      return { KVSTORE_TYPE: 'cluster', KVSTORE_URL: url, KVSTORE_PIPELINE_WINDOW: '150us' };
    },
    memcached: async () => {
      const server = await startMemcachedServer();
      endings.push(() => server.stop());
      const nodes = `127.0.0.1:${String(server.port)}`;
      return { BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: nodes, LocalCacheSizeInBytes: '0' };
    },
  };

  it.each(Object.entries(starts))('%s reads, sets and resets a counter', async (_, start) => {
    const instance = await startInstance(await start());
    const { admin, lines, registry } = instance;
    const countOf = async () => {
      const answer = await admin.read(ANN);
      return 'kind' in answer ? answer : answer[0]?.count;
    };
    const both = request('shop', ['user=ann', 'nobody=x', 'burst=ann']);
    expect(await admin.read(both)).toMatchObject([
      { entries: ['user=ann'], count: 0 },
      { entries: ['nobody=x'], key: null },
      { entries: ['burst=ann'], count: 0 },
    ]);
    await hit(instance, 3);
    await eventually(async () => {
      expect(await countOf()).toBe(3);
    });
    expect(await admin.change(ANN, { ...RESET, dryRun: true })).toMatchObject([{ count: 3 }]);
    expect(await countOf()).toBe(3);
    expect(lines.filter(({ message }) => message.startsWith('counters were'))).toEqual([]);

    expect(await admin.change(ANN, { ...RESET, used: 1 })).toMatchObject([{ count: 3 }]);
    expect(await countOf()).toBe(1);
    expect(await hit(instance)).toMatchObject({ known: false, after: 2 });

    await eventually(async () => {
      expect(await countOf()).toBe(2);
    });
    expect(await admin.change(both, RESET)).toMatchObject([{ count: 2 }, { key: null }, {}]);
    expect(await countOf()).toBe(0);
    expect(lines.slice(-2)).toMatchObject([
      { level: 'warn', message: 'counters were set', fields: { before: [3], after: [1] } },
      {
        level: 'warn',
        message: 'counters were reset',
        fields: {
          peer: '10.0.0.9',
          token: '0a1b2c3d',
          domain: 'shop',
          descriptors: ['user=ann', 'nobody=x', 'burst=ann'],
        },
      },
    ]);
    const writes = [...readCounters(registry)].find(([name]) => name === 'ratelimit.admin.writes');
    expect(writes?.[1].value).toBe(2);
  });
});

it('keeps the time to live of a counter that is set, and gives a new one its own', async () => {
  const redis = await startRedis();
  const { admin } = await startInstance({ KVSTORE_URL: urlOf(redis) });
  const { key, ttlSeconds } = incrementOf('user=ann', 1);
  await redis.client.set(key, '5', 'EX', 1_000);
  await admin.change(ANN, { ...RESET, used: 2 });
  expect(await redis.client.get(key)).toBe('2');
  expect(await redis.client.ttl(key)).toBeLessThanOrEqual(1_000);
  await redis.client.del(key);
  await admin.change(ANN, { ...RESET, used: 2 });
  expect(await redis.client.ttl(key)).toBeGreaterThan(ttlSeconds - 60);
});

describe('local caches of other instances', () => {
  it.each(['user=ann', 'pace=ann', 'slide=ann'])(
    'forget %s that one instance resets, also after their connection was killed',
    async (text) => {
      const redis = await startRedis();
      const env = { KVSTORE_URL: urlOf(redis) };
      const [a, b] = [await startInstance(env), await startInstance(env)];
      const asked = request('shop', [text]);
      await untilListening(redis, 2);
      await bothKnow(a, b, text);
      await a.admin.change(asked, RESET);
      expect(await untilForgotten(b, text)).toBeLessThan(TOLD_WITHIN_MS);

      await redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await untilListening(redis, 2);
      await bothKnow(a, b, text);
      await a.admin.change(asked, RESET);
      expect(await untilForgotten(b, text)).toBeLessThan(TOLD_WITHIN_MS);
      expect(await a.admin.read(asked)).toMatchObject([{ count: 0 }]);
      await hit(b, 1, text);
      expect(await a.admin.read(asked)).toMatchObject([{ count: 1 }]);
    },
  );

  it('forget all when they may have missed a message', async () => {
    const redis = await startRedis();
    const env = { KVSTORE_URL: urlOf(redis) };
    const [a, b] = [await startInstance(env), await startInstance(env)];
    await untilListening(redis, 2);
    await bothKnow(a, b);
    await redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await untilForgotten(b);
  });

  it('forget a counter that a refund took back to its limit', async () => {
    const redis = await startRedis();
    const env = { KVSTORE_URL: urlOf(redis) };
    const [a, b] = [await startInstance(env), await startInstance(env)];
    await untilListening(redis, 2);
    await bothKnow(a, b);
    await hit(a, -3);
    await untilForgotten(b);
  });

  it.each(['a cluster', 'sentinels'])('hear each other through %s', async (kind) => {
    const isCluster = kind === 'a cluster';
    const setup = isCluster ? await startRedisCluster() : await startSentinels();
    endings.push(() => setup.stop());
    const addresses = 'nodes' in setup.address ? setup.address.nodes : setup.address.sentinels;
    const places = addresses.map(({ host, port }) => `${host}:${String(port)}`).join(',');
    const env = isCluster
      ? { KVSTORE_TYPE: 'cluster', KVSTORE_URL: places, KVSTORE_PIPELINE_WINDOW: '150us' }
      : {
          KVSTORE_TYPE: 'sentinel',
          KVSTORE_URL:
            'masterName' in setup.address ? `${setup.address.masterName},${places}` : places,
        };
    const [a, b] = [await startInstance(env), await startInstance(env)];
    const servers = 'masters' in setup ? setup.masters : setup.servers;
    await eventually(async () => {
      const heard = await Promise.all(
        servers.map(({ client }) => client.call('PUBSUB', 'NUMSUB', 'weir:forget')),
      );
      const sum = heard.reduce<number>((all, one) => all + Number((one as unknown[])[1]), 0);
      expect(sum).toBe(2);
    });
    await bothKnow(a, b);
    await a.admin.change(ANN, RESET);
    await untilForgotten(b);
  });

  it('are told nothing without permission for the channel, which is one warning', async () => {
    const redis = await startRedis(['user', 'weir', 'on', '>p', '~*', '+@all', 'resetchannels']);
    const instance = await startInstance({ KVSTORE_URL: urlOf(redis), KVSTORE_AUTH: 'weir:p' });
    await eventually(() => {
      expect(instance.lines.map(({ message }) => message).join()).toContain('refuses messages');
    });
    await hit(instance, 3);
    expect(await instance.admin.change(ANN, RESET)).toMatchObject([{ count: 3 }]);
    expect(await hit(instance)).toEqual({ known: false, after: 1 });
    expect(
      instance.lines.filter(({ message }) => message.includes('refuses messages')),
    ).toHaveLength(1);
  });

  it('forget all counters for a message of more than 10,000 keys', async () => {
    const redis = await startRedis();
    const instance = await startInstance({ KVSTORE_URL: urlOf(redis) });
    await untilListening(redis, 1);
    await hit(instance, 3);
    const others = Array.from({ length: 10_000 }, (_, at) => `other ${String(at)}`);
    await redis.client.publish('weir:forget', JSON.stringify(others));
    expect((await hit(instance)).known).toBe(true);
    await redis.client.publish('weir:forget', JSON.stringify([...others, 'one more']));
    await eventually(async () => {
      expect((await hit(instance)).known).toBe(false);
    });
  });

  it('ignore what is no list of keys', async () => {
    const redis = await startRedis();
    const instance = await startInstance({ KVSTORE_URL: urlOf(redis) });
    await untilListening(redis, 1);
    await hit(instance, 3);
    for (const message of ['', '{', '7', '[7]', '{"a":1}'])
      await redis.client.publish('weir:forget', message);
    await redis.client.publish('weir:forget', JSON.stringify(['other']));
    expect((await hit(instance)).known).toBe(true);
  });

  it.each([
    [
      'memcached',
      async () => {
        const server = await startMemcachedServer();
        endings.push(() => server.stop());
        return { BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: `127.0.0.1:${String(server.port)}` };
      },
    ],
    [
      'Redis without messages',
      async () => ({
        KVSTORE_URL: urlOf(await startRedis()),
        KVSTORE_CACHE_INVALIDATION: 'false',
      }),
    ],
  ])('make %s refuse a change, unless it is forced', async (_, start) => {
    const instance = await startInstance(await start());
    // Until the store is connected.
    await eventually(() => hit(instance, 0));
    await hit(instance, 3);
    expect(await instance.admin.change(ANN, RESET)).toBe('not_published');
    expect(await instance.admin.change(ANN, { ...RESET, dryRun: true })).toMatchObject([
      { count: 3 },
    ]);
    await eventually(async () => {
      expect(await instance.admin.read(ANN)).toMatchObject([{ count: 3 }]);
    });
    expect(await instance.admin.change(ANN, { ...RESET, force: true })).toMatchObject([
      { count: 3 },
    ]);
    expect(await instance.admin.read(ANN)).toMatchObject([{ count: 0 }]);
  });
});

it('shows why a store cannot be asked or changed', async () => {
  const redis = await startRedis();
  const { admin } = await startInstance({ KVSTORE_URL: urlOf(redis), KVSTORE_TIMEOUT: '100ms' });
  redis.pause();
  expect(await admin.change(ANN, RESET)).toMatchObject([
    { error: expect.stringContaining('100 ms') as string },
  ]);
  redis.resume();
});
