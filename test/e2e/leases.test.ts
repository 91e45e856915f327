import { eventually } from '../support/edge/eventually';
import { expectFigure, isSiege } from '../support/edge/figure';
import { startMemcachedServer } from '../support/edge/memcached-server';
import { askPaced, percentile } from '../support/edge/paced-load';
import { readStatistics } from '../support/read-statistics';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { createTemporaryDirectory } from '../support/rule-directory';
import { startService, stopServices, type Service } from '../support/edge/service';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';

const LIMIT = 1_200;
const RULES = `domain: leased
descriptors:
  - { key: hot, rate_limit: { unit: day, requests_per_unit: ${String(LIMIT)}, leased: true } }
`;
const STORE_MS = 20;
const TO_COME_BACK_MS = 1_000;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0).reverse()) await end();
});

const asking = (key: string) => ({
  domain: 'leased',
  descriptors: [{ entries: [{ key, value: 'one' }] }],
});

function rulesEnv(): Readonly<Record<string, string>> {
  const directory = createTemporaryDirectory();
  directory.write('config/leased.yaml', RULES);
  ends.push(() => {
    directory.remove();
  });
  return { RUNTIME_ROOT: directory.path, RUNTIME_WATCH_ROOT: 'false' };
}

async function startFar(): Promise<{ readonly redis: RedisServer; readonly store: TcpProxy }> {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const store = await startTcpProxy(redis.port);
  ends.push(() => store.close());
  return { redis, store };
}

const startWith = (port: number, env: Readonly<Record<string, string>>): Promise<Service> =>
  startService({
    waitUntilUp: 'connected',
    env: {
      KVSTORE_URL: `127.0.0.1:${String(port)}`,
      KVSTORE_TIMEOUT: '5s',
      KVSTORE_FAILURE_REPLICAS: '2',
      ...env,
    },
  });

/** Calls of the counting script. */
async function storeCalls({ client }: RedisServer): Promise<number> {
  const info = await client.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
}

async function countOf({ client }: RedisServer, key: string): Promise<number> {
  const [name = ''] = await client.keys(`leased_${key}_*`);
  return Number(await client.get(name));
}

it('two instances far from their store answer most calls at once, and admit no more than the limit, when one is killed too', async () => {
  const { redis, store } = await startFar();
  const env = rulesEnv();
  const [one, two] = await Promise.all([startWith(store.port, env), startWith(store.port, env)]);
  store.behaviour.answerDelayMs = STORE_MS;
  const load = { perSecond: 300, forMs: 1_500 };
  const callBoth = (key: string) =>
    Promise.all([askPaced(one, asking(key), load), askPaced(two, asking(key), load)]);
  // What a call takes that needs no store, most of it the client's: the figure is about the rest.
  const unlimited = isSiege ? await callBoth('no rule') : [];
  const before = await storeCalls(redis);
  const [ofOne, ofTwo] = await callBoth('hot');
  const decided = ofOne.tookMs.length + ofTwo.tookMs.length;
  const calls = (await storeCalls(redis)) - before;
  expect(ofOne.refused + ofTwo.refused + ofOne.failed + ofTwo.failed).toBe(0);
  expect(calls).toBeLessThan(decided / 5);
  for (const [at, answers] of [ofOne, ofTwo].entries()) {
    const ownMs = percentile(unlimited[at] ?? answers, 50);
    const addedMs = percentile(answers, 50) - ownMs;
    expectFigure({
      name: 'p50 beyond a call without a rule',
      value: addedMs,
      unit: 'ms',
      below: 1,
    });
    expectFigure({ name: 'p99', value: percentile(answers, 99), unit: 'ms', below: 2 * STORE_MS });
  }
  // All quiet: what lies unspent is given back.
  await eventually(async () => {
    expect(await countOf(redis, 'hot')).toBe(ofOne.admitted + ofTwo.admitted);
  });
  await one.stop('SIGKILL');
  const left = await askPaced(two, asking('hot'), { perSecond: 500, forMs: 1_500 });
  const admitted = ofOne.admitted + ofTwo.admitted + left.admitted;
  expect(left.refused).toBeGreaterThan(0);
  expect(admitted).toBeLessThanOrEqual(LIMIT);
  expect(admitted).toBeGreaterThan(LIMIT * 0.9);
});

it.each(['requests', 'answers'] as const)(
  'one that is killed while it gives back at its stop, whose %s are lost, lets nobody pass the limit',
  async (swallow) => {
    const { redis, store } = await startFar();
    const env = { ...rulesEnv(), LEASE_TIME: '1s' };
    const [one, two] = await Promise.all([startWith(store.port, env), startWith(redis.port, env)]);
    const first = await askPaced(one, asking('hot'), { perSecond: 200, forMs: 1_000 });
    const charged = await countOf(redis, 'hot');
    expect(charged).toBeGreaterThan(first.admitted);
    store.behaviour.swallow = swallow;
    const stopped = one.stop('SIGTERM');
    await eventually(async () => {
      if (swallow === 'requests') expect(store.swallowed).toBeGreaterThan(0);
      else expect(await countOf(redis, 'hot')).toBeLessThan(charged);
    });
    await one.stop('SIGKILL');
    await stopped;
    expect(await countOf(redis, 'hot')).toBeGreaterThanOrEqual(first.admitted);
    const second = await askPaced(two, asking('hot'), { perSecond: 500, forMs: 2_600 });
    expect(second.refused).toBeGreaterThan(0);
    expect(first.admitted + second.admitted).toBeLessThanOrEqual(LIMIT);
    expect(first.admitted + second.admitted).toBeGreaterThan(LIMIT * 0.7);
  },
);

it('while the store hangs, what is on lease is spent; when it is back, more is leased', async () => {
  const { store } = await startFar();
  const env = { ...rulesEnv(), LEASE_TIME: '1s', KVSTORE_TIMEOUT: '300ms' };
  const service = await startWith(store.port, env);
  await eventually(async () => {
    await askPaced(service, asking('hot'), { perSecond: 100, forMs: 300 });
    const statistics = await readStatistics(service);
    const [granted = 0, spent = 0] = ['granted', 'spent'].map((name) =>
      statistics.get(`ratelimit.leases.${name}`),
    );
    expect(granted - spent).toBeGreaterThan(10);
  });
  store.behaviour.swallow = 'requests';
  const away = await askPaced(service, asking('hot'), { perSecond: 100, forMs: 1_500 });
  expect(away.admitted).toBeGreaterThan(5);
  expect(away.failed).toBeGreaterThan(0);
  store.behaviour.swallow = 'nothing';
  store.reset();
  await eventually(
    async () => {
      const back = await askPaced(service, asking('hot'), { perSecond: 100, forMs: 200 });
      expect(back.failed).toBe(0);
    },
    { withinMs: 15_000 },
  );
  const spent = (await readStatistics(service)).get('ratelimit.leases.spent') ?? 0;
  await askPaced(service, asking('hot'), { perSecond: 100, forMs: 1_000 });
  await eventually(async () => {
    expect((await readStatistics(service)).get('ratelimit.leases.spent')).toBeGreaterThan(spent);
  });
});

it('in memcached too, and with workers: each counts as an instance', async () => {
  const memcached = await startMemcachedServer();
  ends.push(() => memcached.stop());
  const env = {
    ...rulesEnv(),
    BACKEND_TYPE: 'memstore',
    MEMSTORE_HOST_PORT: `127.0.0.1:${String(memcached.port)}`,
    KVSTORE_FAILURE_REPLICAS: '1',
    KVSTORE_LEASES: 'on',
    WORKERS: '2',
  };
  const service = await startService({ env });
  const answers = await askPaced(service, asking('hot'), { perSecond: 300, forMs: 1_000 });
  expect(answers.failed).toBe(0);
  await eventually(
    async () => {
      const statistics = await readStatistics(service);
      expect(statistics.get('ratelimit.leases.granted')).toBeGreaterThan(0);
      const day = Math.floor(Date.now() / 86_400_000) * 86_400;
      const entry = await memcached.read(`leased_hot_one_${String(day)}`);
      expect(Number(entry?.value)).toBe(answers.admitted);
    },
    { withinMs: 5 * TO_COME_BACK_MS },
  );
});
