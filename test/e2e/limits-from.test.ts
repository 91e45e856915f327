import { eventually } from '../support/edge/eventually';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { createTemporaryDirectory, type TemporaryDirectory } from '../support/rule-directory';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

jest.setTimeout(60_000);

const RULES = `
domain: shop
descriptors:
  - key: tenant
    rate_limit:
      unit: year
      requests_per_unit: 2
      limits_from: { key: tenant_limits, refresh: 1s }
  - key: paced
    rate_limit:
      unit: hour
      unit_multiplier: 2
      requests_per_unit: 2
      algorithm: gcra
      limits_from: { key: tenant_limits, refresh: 1s }
  - key: kept
    on_store_error: local
    rate_limit: { unit: year, requests_per_unit: 2, limits_from: { key: tenant_limits, refresh: 1s } }
`;

let rules: TemporaryDirectory;
let redis: RedisServer;
beforeAll(async () => {
  rules = createTemporaryDirectory();
  rules.write('config/rules.yaml', RULES);
  redis = await startRedisServer();
});
afterEach(async () => {
  await stopServices();
});
afterAll(async () => {
  await redis.stop();
  rules.remove();
});

const inRedis = ({ port } = redis) =>
  startService({
    waitUntilUp: 'connected',
    env: {
      RUNTIME_ROOT: rules.path,
      BACKEND_TYPE: 'kvstore',
      KVSTORE_URL: `127.0.0.1:${String(port)}`,
    },
  });

async function post(service: Service, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${service.debug}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

const explain = (service: Service, request: object) => post(service, 'explain', request);

async function limitOf(service: Service, tenant: string, key = 'tenant'): Promise<unknown> {
  const response = await fetch(`${service.http}/json`, {
    method: 'POST',
    body: JSON.stringify({
      domain: 'shop',
      descriptors: [{ entries: [{ key, value: tenant }], hitsAddend: 0 }],
    }),
  });
  const { statuses } = (await response.json()) as {
    readonly statuses: readonly {
      readonly currentLimit?: { readonly requestsPerUnit?: number };
      readonly limitRemaining?: number;
    }[];
  };
  const [status] = statuses;
  return status?.currentLimit === undefined
    ? 'unlimited'
    : (status.currentLimit.requestsPerUnit ?? 0);
}

/** Asks over several connections at once: each worker reads limits for itself. */
const untilLimited = (service: Service, tenant: string, limit: unknown) =>
  eventually(async () => {
    const limits = await Promise.all([1, 2, 3, 4].map(() => limitOf(service, tenant)));
    expect(limits).toEqual(limits.map(() => limit));
  });

it('keeps what is known while the hash cannot be read, says so, and counts it', async () => {
  await redis.client.hset('tenant_limits', { big: '1000', odd: 'x' });
  const service = await inRedis();
  await untilLimited(service, 'big', 1_000);
  await limitOf(service, 'odd');
  await eventually(() => {
    expect(service.output()).toContain('fields of the hash \\"tenant_limits\\" hold no limit');
  });
  await redis.client.rename('tenant_limits', 'away');
  await redis.client.set('tenant_limits', 'no hash');
  await eventually(() => {
    expect(service.output()).toContain('cannot read limits from the hash \\"tenant_limits\\"');
  });
  expect(await limitOf(service, 'big')).toBe(1_000);
  const stats = await (await fetch(`${service.debug}/stats`)).text();
  expect(stats).toMatch(/ratelimit\.service\.limits_from\.error: [1-9]/);
  expect(stats).toMatch(/ratelimit\.service\.limits_from\.invalid: [1-9]/);
  await redis.client.rename('away', 'tenant_limits');
});

it('keeps the limits that are known while Redis is away, and reads them again afterwards', async () => {
  const own = await startRedisServer();
  await own.client.hset('tenant_limits', { ann: '1000' });
  const service = await inRedis(own);
  await eventually(async () => {
    expect(await limitOf(service, 'ann', 'kept')).toBe(1_000);
  });
  await own.stop();
  await eventually(() => {
    expect(service.output()).toContain('cannot read limits from the hash \\"tenant_limits\\"');
  });
  expect(await limitOf(service, 'ann', 'kept')).toBe(1_000);
  expect(await limitOf(service, 'new', 'kept')).toBe(2);
  const again = await startRedisServer({ port: own.port });
  await again.client.hset('tenant_limits', { ann: '7' });
  await eventually(
    async () => {
      expect(await limitOf(service, 'ann', 'kept')).toBe(7);
    },
    { withinMs: 10_000 },
  );
  await eventually(() => {
    expect(service.output()).toContain('limits are read from the hash \\"tenant_limits\\" again');
  });
  await again.stop();
});

it('explains a value, and shows its counter, with what the hash says now', async () => {
  await redis.client.hset('tenant_limits', { gold: '5000' });
  const service = await inRedis();
  const request = { domain: 'shop', descriptors: [{ entries: [{ key: 'paced', value: 'gold' }] }] };
  const limitsFrom = { key: 'tenant_limits', field: 'gold', value: 5_000 };
  expect(await explain(service, request)).toMatchObject({
    descriptors: [
      {
        limit: { words: '5000 per 2 hours, bursts of 5000', limitsFrom },
        ifAsked: { remaining: 4_999 },
      },
    ],
  });
  await redis.client.hset('tenant_limits', { gold: '6000' });
  expect(await post(service, 'counters/read', request)).toMatchObject({
    counters: [{ key: 'shop_paced_gold_7200s~g4', limitsFrom: { ...limitsFrom, value: 6_000 } }],
  });
});

it.each(['memory', 'memstore'])(
  'is refused with BACKEND_TYPE=%s, naming the place',
  async (name) => {
    const service = await startService({
      waitUntilUp: 'answering',
      env: { RUNTIME_ROOT: rules.path, BACKEND_TYPE: name, MEMSTORE_HOST_PORT: '127.0.0.1:1' },
    });
    await eventually(() => {
      expect(service.output()).toContain(
        `file=rules.yaml line=6 column=7 error="limits_from needs a store that has hashes, BACKEND_TYPE=kvstore; found BACKEND_TYPE=${name}"`,
      );
    });
    expect((await ask(service, 'shop', 'tenant=a')).status).toBe(503);
  },
);
