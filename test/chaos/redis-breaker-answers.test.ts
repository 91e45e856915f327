import { eventually } from '../support/edge/eventually';
import { readStatistics } from '../support/read-statistics';
import {
  MISCONF,
  NOREPLICAS,
  OOM,
  READONLY,
  type RedisRefusal,
} from '../support/edge/redis-refusals';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

jest.setTimeout(120_000);

/** Every new connection hears it too. */
const NOAUTH: RedisRefusal = {
  says: /^NOAUTH /,
  mount: async ({ client }) => {
    await client.config('SET', 'requirepass', 'from-now-on');
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  },
  clear: ({ client }) => client.config('SET', 'requirepass', ''),
};

let redis: RedisServer;
let service: Service;
beforeEach(async () => {
  redis = await startRedisServer();
  service = await startService({
    env: { BACKEND_TYPE: 'kvstore', KVSTORE_URL: `127.0.0.1:${String(redis.port)}` },
    waitUntilUp: 'connected',
  });
});
afterEach(async () => {
  await stopServices();
  await redis.stop();
});

const BREAKER = 'ratelimit.redis_pool.breaker_state';

async function askUntilRefused(): Promise<void> {
  await eventually(async () => {
    expect((await ask(service, 'example', 'api_key=a')).status).toBe(503);
  });
}

it.each([
  ['OOM', OOM],
  ['NOREPLICAS', NOREPLICAS],
  ['MISCONF', MISCONF],
] as const)(
  '%s refuses calls and opens no breaker: the server is there, and health says so',
  async (_, refusal) => {
    await refusal.mount(redis);
    await askUntilRefused();
    for (let call = 0; call < 20; call += 1)
      expect((await ask(service, 'example', `api_key=${String(call)}`)).status).toBe(503);
    expect((await readStatistics(service)).get(BREAKER)).toBe(0);
    // It asks for a connection, and there is one.
    expect((await fetch(`${service.http}/healthcheck`)).status).toBe(200);
    await refusal.clear(redis);
    expect((await ask(service, 'example', 'api_key=b')).status).toBe(200);
  },
);

it.each([
  ['READONLY', READONLY],
  ['NOAUTH', NOAUTH],
] as const)('%s opens the breaker: another server counts', async (_, refusal) => {
  await refusal.mount(redis);
  await eventually(async () => {
    expect((await ask(service, 'example', 'api_key=a')).status).toBe(503);
    expect((await readStatistics(service)).get(BREAKER)).toBeGreaterThan(0);
  });
  await refusal.clear(redis);
  await eventually(async () => {
    expect((await ask(service, 'example', 'api_key=b')).status).toBe(200);
  });
});
