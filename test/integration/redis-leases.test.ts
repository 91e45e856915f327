import type { DecisionRequest } from '../../src/core/model';
import { RESET } from '../support/edge/counter-instance';
import { eventually } from '../support/edge/eventually';
import { startLeasingInstance, type LeasingInstance } from '../support/edge/leasing-instance';
import { startRedisServer } from '../support/edge/redis-server';
import { REDIS_STORES, urlOf, type RedisStore } from '../support/edge/redis-stores';
import { descriptor, request } from '../support/requests';
import { startTcpProxy } from '../support/edge/tcp-proxy';

const RULES = `domain: shop
descriptors:
  - { key: hot, rate_limit: { unit: year, requests_per_unit: 1000 } }
  - { key: second, rate_limit: { unit: second, requests_per_unit: 1000 } }
`;
const TOGETHER = `domain: all
charge: together
descriptors:
  - { key: user, rate_limit: { unit: year, requests_per_unit: 1 } }
  - { key: path, rate_limit: { unit: year, requests_per_unit: 1000 } }
`;
const HITS = 30;
/** The hits of the last second, when a lease is asked for. */
const LEASED = HITS + 1;
const SPENT = 10;

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const asking = (names: readonly string[], hits = 1): DecisionRequest =>
  request(
    'shop',
    names.map((name) => descriptor(name, { hits })),
  );

async function started<T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
  const one = await starting;
  endings.push(() => one.stop());
  return one;
}

async function startInstance(env: Readonly<Record<string, string>>): Promise<LeasingInstance> {
  const instance = await startLeasingInstance({ KVSTORE_TIMEOUT: '20s', ...env }, RULES, TOGETHER);
  endings.push(() => instance.close());
  return instance;
}

/** A lease on each of these counters, of which nothing is spent. */
async function lease({ ask, leftOf }: LeasingInstance, names: readonly string[]): Promise<void> {
  for (const hits of [HITS, 1]) expect(await ask(asking(names, hits)).codes).toEqual(['OK']);
  expect(leftOf(asking(names))).toEqual(names.map(() => LEASED));
}

const STORES: Readonly<
  Record<string, () => Promise<Pick<RedisStore, 'env' | 'serverOf'> & Partial<RedisStore>>>
> = {
  ...REDIS_STORES,
  'a server for limits per second beside one for all others': async () => {
    const [others, perSecond] = [
      await started(startRedisServer()),
      await started(startRedisServer()),
    ];
    const env = {
      KVSTORE_URL: urlOf(others),
      KVSTORE_PERSECOND: 'true',
      KVSTORE_PERSECOND_URL: urlOf(perSecond),
      KVSTORE_PERSECOND_TIMEOUT: '20s',
    };
    const isPerSecond = (key: string) => key.startsWith('shop_second');
    return {
      env,
      serverOf: (key) => Promise.resolve(isPerSecond(key) ? perSecond : others),
    };
  },
};

it.each(Object.keys(STORES))('are charged, spent and given back in %s', async (name) => {
  const { env, serverOf, stop } = await (STORES[name] as (typeof STORES)[string])();
  if (stop !== undefined) endings.push(stop);
  const instance = await startInstance(env);
  // A cluster has these on all of its nodes.
  const names = ['hot=a', 'hot=b', 'hot=c', 'hot=d', 'second=a', 'second=b'];
  const counts = () =>
    Promise.all(
      instance.keysOf(asking(names)).map(async (key) => {
        const { client } = await serverOf(key);
        return Number(await client.get(key));
      }),
    );
  await lease(instance, names);
  const charged = names.map(() => HITS + 1 + LEASED);
  expect(await counts()).toEqual(charged);
  for (let at = 0; at < SPENT; at += 1) {
    const { isAtOnce, codes } = instance.ask(asking(names));
    expect([isAtOnce, await codes]).toEqual([true, ['OK']]);
  }
  expect(await counts()).toEqual(charged);
  await instance.close();
  // In the last second of a window it would be of no use.
  const returned = names.map((one) => (one.startsWith('second') ? 0 : LEASED - SPENT));
  expect(await counts()).toEqual(returned.map((hits) => HITS + 1 + LEASED - hits));
  const { counter } = instance.statistics;
  expect(counter('ratelimit.leases.returned').value).toBe(4 * (LEASED - SPENT));
  expect(counter('ratelimit.leases.stranded').value).toBe(2 * (LEASED - SPENT));
});

it('leave requests as they are that are charged together, in the same batches', async () => {
  const redis = await started(startRedisServer());
  const instance = await startInstance({ KVSTORE_URL: urlOf(redis) });
  const { ask } = instance;
  await lease(instance, ['hot=leased']);
  await ask(asking(['hot=next'], HITS)).codes;
  const together = request('all', ['user=ann', 'path=/']);
  const keys = [together, asking(['hot=next'])].flatMap(instance.keysOf);
  for (let at = 0; at < HITS; at += 1) await ask(together).codes;
  const batch = [together, asking(['hot=leased', 'hot=next']), together, asking(['hot=leased'])];
  const { isAtOnce, codes } = ask(...batch);
  const refused = 'OVER_LIMIT';
  expect([isAtOnce, await codes]).toEqual([false, [refused, 'OK', refused, 'OK']]);
  expect(instance.leftOf(together)).toEqual([undefined, undefined]);
  expect(instance.leftOf(asking(['hot=leased', 'hot=next']))).toEqual([LEASED - 2, LEASED]);
  // The first of those together was charged for both, the others for none.
  const counts = await redis.client.mget(...keys);
  expect(counts.map(Number)).toEqual([1, 1, HITS + 1 + LEASED]);
});

it('end when another instance resets the counter, and what is on its way to one is not granted', async () => {
  const redis = await started(startRedisServer());
  const proxy = await startTcpProxy(redis.port);
  endings.push(() => proxy.close());
  const one = await startInstance({ KVSTORE_URL: urlOf(proxy) });
  const two = await startInstance({ KVSTORE_URL: urlOf(redis) });
  const both = asking(['hot=idle', 'hot=busy']);
  const [, busy = ''] = one.keysOf(both);
  const countOf = async (key: string) => Number(await redis.client.get(key));
  await lease(one, ['hot=idle']);
  await one.ask(asking(['hot=busy'], HITS)).codes;
  await eventually(async () => {
    expect(await redis.client.call('PUBSUB', 'NUMSUB', 'weir:forget')).toEqual(['weir:forget', 1]);
  });

  // The answer with the refill comes late; what follows on other connections does not.
  proxy.behaviour.answerDelayMs = 3_000;
  let isAnswered = false;
  const late = one.ask(asking(['hot=busy'])).codes.finally(() => (isAnswered = true));
  await eventually(async () => {
    expect(await countOf(busy)).toBe(HITS + 1 + LEASED);
  });
  await redis.client.ping();
  proxy.behaviour.answerDelayMs = 0;
  await two.admin.change(both, RESET);
  await eventually(() => {
    expect(one.leftOf(both)).toEqual([undefined, undefined]);
  });
  expect(isAnswered).toBe(false);
  expect(await late).toEqual(['OK']);

  // Both are counted anew, from nothing.
  const { isAtOnce, codes } = one.ask(both);
  expect([isAtOnce, await codes]).toEqual([false, ['OK']]);
  const counts = () => Promise.all(one.keysOf(both).map(countOf));
  expect(await counts()).toEqual([1, 1]);
  await one.close();
  expect(await counts()).toEqual([1, 1]);
  const stranded = one.statistics.counter('ratelimit.leases.stranded').value;
  expect(stranded).toBe(2 * LEASED);
});
