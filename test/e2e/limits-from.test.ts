import { eventually } from '../support/eventually';
import { startRedisServer, type RedisServer } from '../support/redis-server';
import { createTemporaryDirectory, type TemporaryDirectory } from '../support/rule-directory';
import { ask, startService, stopServices, type Service } from '../support/service';

jest.setTimeout(60_000);

const RULES = `
domain: shop
descriptors:
  - key: tenant
    rate_limit:
      unit: year
      requests_per_unit: 2
      limits_from: { key: tenant_limits, refresh: 1s }
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

const inRedis = () =>
  startService({
    waitUntilUp: 'connected',
    env: {
      RUNTIME_ROOT: rules.path,
      BACKEND_TYPE: 'kvstore',
      KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
    },
  });

async function limitOf(service: Service, tenant: string): Promise<unknown> {
  const response = await fetch(`${service.http}/json`, {
    method: 'POST',
    body: JSON.stringify({
      domain: 'shop',
      descriptors: [{ entries: [{ key: 'tenant', value: tenant }], hitsAddend: 0 }],
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

const untilLimited = (service: Service, tenant: string, limit: unknown) =>
  eventually(async () => {
    expect(await limitOf(service, tenant)).toBe(limit);
  });

it('limits each tenant by its field, and all others by the rule', async () => {
  await redis.client.hset('tenant_limits', { big: '1000', none: '0', free: 'unlimited', odd: 'x' });
  const service = await inRedis();
  await untilLimited(service, 'big', 1_000);
  await untilLimited(service, 'none', 0);
  await untilLimited(service, 'free', 'unlimited');
  expect(await limitOf(service, 'odd')).toBe(2);
  expect(await limitOf(service, 'other')).toBe(2);
  expect((await ask(service, 'shop', 'tenant=none')).body.overallCode).toBe('OVER_LIMIT');

  await redis.client.hset('tenant_limits', 'big', '7');
  await untilLimited(service, 'big', 7);
  await redis.client.hdel('tenant_limits', 'big');
  await untilLimited(service, 'big', 2);
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

it('says in /rlconfig where the limits come from', async () => {
  const service = await inRedis();
  const text = await (await fetch(`${service.debug}/rlconfig`)).text();
  expect(text).toContain('limit: 2 per year, for values without a field in tenant_limits');
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
