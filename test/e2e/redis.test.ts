import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { createTestClient } from '../support/edge/grpc-client';
import { startSentinels } from '../support/edge/redis-sentinels';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startStopwatch } from '../support/edge/core-time';
import { eventuallyWithin, expectFigure } from '../support/edge/figure';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import {
  ask,
  startService,
  stopServices,
  type Service,
  type ServiceOptions,
} from '../support/edge/service';

const TIMEOUT_MS = 300;
const servers: RedisServer[] = [];
afterEach(async () => {
  await stopServices();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function startRedis(port?: number): Promise<RedisServer> {
  const server = await startRedisServer(port === undefined ? {} : { port });
  servers.push(server);
  return server;
}

function startWith(
  port: number,
  env: Readonly<Record<string, string>> = {},
  waitUntilUp: ServiceOptions['waitUntilUp'] = 'connected',
): Promise<Service> {
  return startService({
    waitUntilUp,
    env: {
      KVSTORE_SOCKET_TYPE: 'tcp',
      KVSTORE_URL: `127.0.0.1:${String(port)}`,
      KVSTORE_TIMEOUT: `${String(TIMEOUT_MS)}ms`,
      ...env,
    },
  });
}

const hit = (service: Service, value: string) => ask(service, 'example', `remote_address=${value}`);

const LATE = { domain: 'example', descriptors: [{ entries: [{ key: 'api_key', value: 'late' }] }] };

/** The first call over gRPC, once the service has it. */
async function callThatWaits(service: Service) {
  const client = createTestClient(service.grpc);
  const waiting = client.ask(LATE, 30_000);
  await eventually(async () => {
    const stats = await fetch(`${service.debug}/stats`);
    expect(await stats.text()).toContain('ratelimit_server.ShouldRateLimit.total_requests: 1\n');
  });
  return { waiting, close: client.close };
}

it('counts in Redis under the keys of today, and shares them with another instance', async () => {
  const redis = await startRedis();
  const [one, two] = await Promise.all([startWith(redis.port), startWith(redis.port)]);
  // Of an hour: one of the other rules' minutes may end between the two.
  const answers = [await ask(one, 'example', 'api_key=a'), await ask(two, 'example', 'api_key=a')];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const [key = ''] = await redis.client.keys('*');
  expect(key).toMatch(/^example_api_key_a_\d+$/);
  expect(await redis.client.get(key)).toBe('2');
});

it('opens its ports without Redis, fails calls at once, and works within 2 s of its coming', async () => {
  const port = await freePort();
  const service = await startWith(port, {}, 'answering');
  expectFigure({ name: 'start', value: service.startMs, unit: 'ms', below: 4_000 });
  const elapsedMs = startStopwatch(service.child);
  expect(await hit(service, 'a')).toMatchObject({ status: 503 });
  expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: TIMEOUT_MS });
  const redis = await startRedis(port);
  await eventuallyWithin(
    async () => {
      expect((await hit(service, 'a')).status).toBe(200);
    },
    { name: 'right again', belowMs: 2_000, of: [service.child, redis] },
  );
});

it('answers within its time-out while Redis hangs, and works within 2 s of its return', async () => {
  const redis = await startRedis();
  const service = await startWith(redis.port);
  expect((await hit(service, 'a')).status).toBe(200);
  redis.pause();
  const elapsedMs = startStopwatch(service.child);
  const answers = await Promise.all(Array.from({ length: 20 }, () => hit(service, 'a')));
  // The time-out is the store's; the rest is ours.
  expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: TIMEOUT_MS + 500 });
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  redis.resume();
  await eventuallyWithin(
    async () => {
      expect((await hit(service, 'a')).status).toBe(200);
    },
    { name: 'right again', belowMs: 2_000, of: [service.child, redis] },
  );
});

it('never counts fewer than the OK answers nor more than the calls, through a crash of Redis', async () => {
  const redis = await startRedis();
  const service = await startWith(redis.port, { KVSTORE_TIMEOUT: '1s' });
  const calls = { made: 0, answered: 0 };
  const ask = async () => {
    calls.made += 1;
    if ((await hit(service, 'steady')).status === 200) calls.answered += 1;
  };
  await Promise.all(Array.from({ length: 30 }, ask));
  redis.pause();
  const stuck = Array.from({ length: 20 }, ask);
  await Promise.all(stuck);
  redis.resume();
  await eventually(async () => {
    expect((await hit(service, 'probe')).status).toBe(200);
  });
  await Promise.all(Array.from({ length: 30 }, ask));
  const keys = await redis.client.keys('example_remote_address_steady_*');
  const counts = await Promise.all(keys.map((key) => redis.client.get(key)));
  const total = counts.reduce((sum, count) => sum + Number(count), 0);
  expect(calls.answered).toBeGreaterThanOrEqual(60);
  expect(total).toBeGreaterThanOrEqual(calls.answered);
  expect(total).toBeLessThanOrEqual(calls.made);
});

it('fails its health check without a connection when it is asked to', async () => {
  const redis = await startRedis();
  const service = await startWith(redis.port);
  expect((await fetch(`${service.http}/healthcheck`)).status).toBe(200);
  await redis.kill();
  await eventually(async () => {
    const health = await fetch(`${service.http}/healthcheck`);
    expect(health.status).toBe(500);
    expect(await health.text()).toContain('store');
  });
});

it('gives up with 1 when it is told for how long to try', async () => {
  const service = await startService({
    waitUntilUp: false,
    env: {
      KVSTORE_URL: `127.0.0.1:${String(await freePort())}`,
      KVSTORE_STARTUP_MAX_ELAPSED_TIME: '1s',
      KVSTORE_STARTUP_INITIAL_INTERVAL: '100ms',
      KVSTORE_STARTUP_MAX_INTERVAL: '100ms',
    },
  });
  await eventually(() => {
    expect(service.child.exitCode).toBe(1);
  });
});

it('answers what is in flight before it ends', async () => {
  const redis = await startRedis();
  const service = await startWith(redis.port, { KVSTORE_TIMEOUT: '10s' });
  await hit(service, 'warm');
  redis.pause();
  const { waiting, close } = await callThatWaits(service);
  const ended = service.stop();
  await eventually(async () => {
    await expect(fetch(`${service.http}/healthcheck`)).rejects.toThrow();
  });
  redis.resume();
  expect((await waiting).code).toBe(status.OK);
  expect(await ended).toBe(0);
  close();
});

it('ends at once with 1 on a second signal, while Redis holds it up', async () => {
  const redis = await startRedis();
  const service = await startWith(redis.port, { KVSTORE_TIMEOUT: '15s' });
  await hit(service, 'warm');
  redis.pause();
  const { waiting, close } = await callThatWaits(service);
  service.child.kill('SIGTERM');
  await eventually(async () => {
    await expect(fetch(`${service.http}/healthcheck`)).rejects.toThrow();
  });
  const elapsedMs = startStopwatch(service.child);
  await eventually(() => {
    service.child.kill('SIGTERM');
    expect(service.child.exitCode).toBe(1);
  });
  expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 1_000 });
  expect((await waiting).code).toBe(status.UNAVAILABLE);
  close();
});

it('counts in the database that the address of sentinels names, with passwords from files', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-passwords-'));
  const fileOf = (password: string) => {
    const file = join(directory, password);
    writeFileSync(file, `${password}\n`);
    return file;
  };
  const setup = await startSentinels({ password: 'horse', sentinelPassword: 'staple' });
  try {
    const { masterName, sentinels } = setup.address;
    const places = sentinels.map(({ host, port }) => `${host}:${String(port)}`).join(',');
    const service = await startService({
      waitUntilUp: 'connected',
      env: {
        KVSTORE_TYPE: 'sentinel',
        KVSTORE_URL: `${masterName}/11,${places}`,
        KVSTORE_AUTH_FILE: fileOf('horse'),
        KVSTORE_SENTINEL_AUTH_FILE: fileOf('staple'),
      },
    });
    expect((await ask(service, 'example', 'api_key=a')).status).toBe(200);
    const { client } = setup.servers[0];
    expect(await client.keys('*')).toEqual([]);
    await client.select(11);
    expect(await client.keys('*')).toEqual([expect.stringMatching(/^example_api_key_a_\d+$/)]);
  } finally {
    await stopServices();
    await setup.stop();
    rmSync(directory, { recursive: true });
  }
});
