import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices, type Service } from '../support/edge/service';
import { PROCESSES } from '../support/edge/test-workers';

let redis: RedisServer | undefined;
afterEach(async () => {
  await stopServices();
  await redis?.stop();
  redis = undefined;
});

const linesWith = (service: Service, text: string) =>
  service
    .output()
    .split('\n')
    .filter((line) => line.includes(text));

/** Each process that it is true of says so once. */
const untilLogged = (service: Service, text: string, processes = 1) =>
  eventually(() => {
    expect(linesWith(service, text)).toHaveLength(processes);
  });

it('logs once, as an error with the address and the reason, that calls fail, and that they do no more', async () => {
  const port = await freePort();
  const address = `127.0.0.1:${String(port)}`;
  const service = await startService({
    env: { KVSTORE_URL: address, LOG_LEVEL: 'error' },
    waitUntilUp: 'answering',
  });
  for (let i = 0; i < 10; i++)
    expect((await ask(service, 'example', 'api_key=a')).status).toBe(503);
  const [line, ...others] = linesWith(service, 'calls are failing: counter store unavailable');
  expect(others).toEqual([]);
  expect(line).toMatch(/level=error/);
  expect(line).toContain(address);
  expect(line).toContain('ECONNREFUSED');
  redis = await startRedisServer({ port });
  await eventually(async () => {
    expect((await ask(service, 'example', 'api_key=a')).status).toBe(200);
  });
  await untilLogged(service, 'calls are counted again');
  expect(linesWith(service, 'calls are counted again')[0]).toMatch(/level=error.* failures=\d+/);
});

it('warns once that the store is away, and once that it is back', async () => {
  const port = await freePort();
  const address = `127.0.0.1:${String(port)}`;
  const service = await startService({
    env: {
      KVSTORE_URL: address,
      KVSTORE_STARTUP_MAX_INTERVAL: '50ms',
      KVSTORE_STARTUP_INITIAL_INTERVAL: '50ms',
    },
    waitUntilUp: 'answering',
  });
  await untilLogged(service, `cannot reach the store at ${address}`, PROCESSES.atStore);
  redis = await startRedisServer({ port });
  await untilLogged(service, `the store at ${address} is back`, PROCESSES.atStore);
  const [back = ''] = linesWith(service, 'is back');
  expect(back).toContain('level=warning');
  // Many attempts have failed, and one line stands for them.
  expect(Number(/failures=(\d+)/.exec(back)?.[1])).toBeGreaterThan(1);
  expect(linesWith(service, 'cannot reach')).toHaveLength(PROCESSES.atStore);
});

it('says at the same level that rules loaded successfully again', async () => {
  const root = mkdtempSync(join(tmpdir(), 'weir-rules-'));
  mkdirSync(join(root, 'config'));
  const file = join(root, 'config', 'a.yaml');
  writeFileSync(file, 'domain: [');
  const service = await startService({
    env: { RUNTIME_ROOT: root, LOG_LEVEL: 'error' },
  });
  await untilLogged(service, 'rules not loaded, none are in force yet');
  writeFileSync(file, 'domain: shop\n');
  await untilLogged(service, 'rules loaded successfully again');
  rmSync(root, { recursive: true });
});

it('says the new reason of an outage at once, in the log, on the page and in the API', async () => {
  redis = await startRedisServer();
  const { client, port } = redis;
  const service = await startService({
    env: {
      BACKEND_TYPE: 'kvstore',
      KVSTORE_URL: `127.0.0.1:${String(port)}`,
      KVSTORE_STARTUP_MAX_INTERVAL: '50ms',
      KVSTORE_STARTUP_INITIAL_INTERVAL: '50ms',
    },
    waitUntilUp: 'connected',
  });
  await client.config('SET', 'requirepass', 'from-now-on');
  // First the connection is closed, then every new one hears that a password is wanted.
  await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await eventually(() => {
    expect(linesWith(service, 'NOAUTH')).not.toEqual([]);
  });
  const version = (await (await fetch(`${service.debug}/api/v1/version`)).json()) as object;
  expect(version).toMatchObject({ storeUnavailable: expect.stringContaining('NOAUTH') as string });
  const watching = new AbortController();
  const events = await fetch(`${service.debug}/ui/events`, { signal: watching.signal });
  let seen = '';
  for await (const chunk of events.body ?? []) {
    seen += Buffer.from(chunk as Uint8Array).toString();
    if (seen.includes('NOAUTH')) break;
  }
  watching.abort();
  expect(seen).toContain('NOAUTH');
});
