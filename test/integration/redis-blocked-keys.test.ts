import { windowsAt } from '../../src/core/planning/windows';
import { findCounters } from '../../src/core/planning/plan';
import type { Increment } from '../../src/core/ports';
import { budgetOf } from '../support/budgets';
import { RESET, startCounterInstance } from '../support/edge/counter-instance';
import { eventually } from '../support/edge/eventually';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { request } from '../support/requests';
import { rulesOf } from '../support/rules';
import { runSteps } from '../support/run-steps';

const RULES = rulesOf('shop', [
  { key: 'user', limit: [1, 'YEAR'] },
  { key: 'login', ...budgetOf([{ unit: 'YEAR', requestsPerUnit: 1, block: { forMs: 600_000 } }]) },
]);
const ANN = request('shop', ['login=ann']);

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** An instance without a local cache of a size. */
async function startInstance(redis: RedisServer, env: Readonly<Record<string, string>> = {}) {
  const KVSTORE_URL = `127.0.0.1:${String(redis.port)}`;
  const instance = await startCounterInstance(RULES, {
    ...{ KVSTORE_URL, LocalCacheSizeInBytes: '0', ...env },
  });
  endings.push(instance.stop);
  const { store, admin, registry: statistics } = instance;
  const clock = () => Date.now() / 1_000;
  const hit = async (text: string): Promise<boolean> => {
    const windows = windowsAt(Math.floor(clock()));
    const [found] = findCounters(RULES, request('shop', [text]), windows, { keyPrefix: '' });
    const increments = [{ ...(found as Increment), hits: 1 }];
    const reply = await store.counters.add({
      increments,
      groupEnds: undefined,
      nowSeconds: clock(),
    });
    return reply.knownOverLimit?.[0] === true;
  };
  /** Keys and seconds that a block still lasts; undefined: the store cannot tell. */
  const blocked = async () => {
    const nowSeconds = clock();
    const list = store.listBlocked?.(nowSeconds, 10);
    const found = list && (await runSteps(list));
    return found?.map(({ key, limit, windowEndSeconds }) => [
      key,
      limit,
      Math.ceil(windowEndSeconds - nowSeconds),
    ]);
  };
  return { admin, blocked, hit, statistics };
}

const start = async (): Promise<RedisServer> => {
  const server = await startRedisServer();
  endings.push(() => server.stop());
  return server;
};

async function listeners({ client }: RedisServer): Promise<number> {
  const [, count] = (await client.call('PUBSUB', 'NUMSUB', 'weir:forget')) as [string, number];
  return count;
}

/** Script calls so far. */
async function callsOf({ client }: RedisServer): Promise<number> {
  const stats = await client.info('commandstats');
  const counts = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

it('costs the store no call for a blocked key, until any instance resets it', async () => {
  const redis = await start();
  const [a, b] = [await startInstance(redis), await startInstance(redis)];
  expect(await a.blocked()).toBeUndefined();
  expect([await a.hit('login=ann'), await a.hit('login=ann')]).toEqual([false, false]);
  expect(await b.hit('login=ann')).toBe(false);
  await eventually(async () => {
    expect(await listeners(redis)).toBe(2);
  });
  // What was known before the channel was heard is forgotten once.
  for (const one of [a, b]) {
    await eventually(async () => {
      await one.hit('login=ann');
      const before = await callsOf(redis);
      expect([await one.hit('login=ann'), (await callsOf(redis)) - before]).toEqual([true, 0]);
    });
  }

  const [listed = []] = (await b.blocked()) ?? [];
  expect(listed.slice(0, 2)).toEqual(['{c:shop_login_ann~4}~c', 1]);
  expect(listed[2]).toBeGreaterThan(500);
  expect(listed[2]).toBeLessThanOrEqual(600);
  await a.admin.change(ANN, RESET);
  expect(await a.blocked()).toEqual([]);
  await eventually(async () => {
    expect(await a.admin.read(ANN)).toMatchObject([{ count: 0 }]);
    expect(await b.hit('login=ann')).toBe(false);
  });
  expect(await a.hit('login=ann')).toBe(false);
});

it('leaves all other rules, and a store that has no such rule, as they were', async () => {
  const redis = await start();
  const { hit, admin, blocked, statistics } = await startInstance(redis);
  await redis.client.config('RESETSTAT');
  for (let at = 0; at < 4; at += 1) expect(await hit('user=ann')).toBe(false);
  await admin.change(request('shop', ['user=ann']), RESET);
  expect(await callsOf(redis)).toBe(4);
  expect(await blocked()).toBeUndefined();
  expect(await listeners(redis)).toBe(0);
  expect(await redis.client.info('commandstats')).not.toMatch(/cmdstat_(?:subscribe|publish)/);
  expect([...statistics.readGauges()].filter(([name]) => name.includes('localcache'))).toEqual([]);
});

it('knows nothing of blocks where messages between instances are off', async () => {
  const redis = await start();
  const { hit, blocked } = await startInstance(redis, { KVSTORE_CACHE_INVALIDATION: 'false' });
  for (let at = 0; at < 4; at += 1) expect(await hit('login=ann')).toBe(false);
  expect(await blocked()).toBeUndefined();
});
