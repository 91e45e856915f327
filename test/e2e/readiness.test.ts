import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestClient } from '../support/edge/grpc-client';
import { createAuthority } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices, type Service } from '../support/edge/service';
import { withWorkers } from '../support/edge/test-workers';

const servers: RedisServer[] = [];
const folder = mkdtempSync(join(tmpdir(), 'weir-ready-'));
const authority = createAuthority();
const stranger = createAuthority('stranger');
afterEach(async () => {
  await stopServices();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => {
  for (const each of [folder, authority.directory, stranger.directory])
    rmSync(each, { recursive: true });
});

async function startRedis(port?: number, password?: string): Promise<RedisServer> {
  const server = await startRedisServer(
    {
      ...(port !== undefined && { port }),
      ...(password !== undefined && { settings: [['requirepass', password]] }),
    },
    password === undefined ? {} : { password },
  );
  servers.push(server);
  return server;
}

const start = (env: Readonly<Record<string, string>>) =>
  startService({ env, waitUntilUp: 'answering' });

async function look({ http, grpc }: Service, path = '/healthcheck') {
  const client = createTestClient(grpc);
  const check = await client.unary('/grpc.health.v1.Health/Check', Buffer.alloc(0)).result;
  client.close();
  const answer = await fetch(`${http}${path}`);
  return { status: answer.status, text: await answer.text(), isServing: check.bytes?.[1] === 1 };
}

const NOT_STARTED = { status: 500, text: 'not healthy: start\n', isServing: false };
const READY = { status: 200, text: 'OK', isServing: true };

/** Once all of its workers listen, where it has some. */
const isNotStarted = (service: Service, path?: string) =>
  eventually(async () => {
    expect(await look(service, path)).toEqual(NOT_STARTED);
  });

const becomesReady = (service: Service) =>
  eventually(async () => {
    expect(await look(service)).toEqual(READY);
  });

/** Until the service has tried what cannot work, as its log says. */
const untilLogged = (service: Service, text: string) =>
  eventually(() => {
    expect(service.output()).toContain(text);
  });

describe('an instance that cannot decide is not ready', () => {
  it('while the host of its store is unknown', async () => {
    const service = await start({ KVSTORE_URL: 'no-such-host.invalid:6379' });
    await untilLogged(service, 'cannot reach the store at no-such-host.invalid:6379');
    await isNotStarted(service);
  });

  it('while its store refuses the password, which it never logs', async () => {
    const redis = await startRedis(undefined, 'right');
    const env = { KVSTORE_URL: `127.0.0.1:${String(redis.port)}`, KVSTORE_AUTH: 'hunter2' };
    const service = await start(env);
    await untilLogged(service, 'WRONGPASS');
    await isNotStarted(service);
    expect(service.output()).not.toContain('hunter2');
  });

  it('while the certificate of its store is of another authority, and becomes ready with the right one', async () => {
    const port = await freePort();
    const others = authority.issue('127.0.0.1', ['127.0.0.1']);
    const settings = [['tls-auth-clients', 'no']];
    const redis = await startRedisServer(
      { port, tls: others, settings },
      { tls: { rejectUnauthorized: false } },
    );
    servers.push(redis);
    const caFile = join(folder, 'trusted.pem');
    copyFileSync(stranger.caFile, caFile);
    const service = await start({
      KVSTORE_URL: `127.0.0.1:${String(port)}`,
      KVSTORE_TLS: 'true',
      KVSTORE_TLS_CACERT: caFile,
      KVSTORE_STARTUP_INITIAL_INTERVAL: '50ms',
      RUNTIME_ROOT: join(folder, 'with-the-right-authority'),
    });
    await untilLogged(service, 'certificate');
    await untilLogged(service, 'the directory of rule files cannot be read');
    await isNotStarted(service);
    expect((await look(service, '/readyz?verbose')).text).toMatch(/^start: down\n/);
    copyFileSync(authority.caFile, caFile);
    await untilLogged(service, 'is back');
    await isNotStarted(service);
    mkdirSync(join(folder, 'with-the-right-authority', 'config'), { recursive: true });
    await becomesReady(service);
  });

  it('until the store of limits per second was reached too; later outages are those of the settings', async () => {
    const redis = await startRedis();
    const port = await freePort();
    const service = await start({
      KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
      KVSTORE_PERSECOND: 'true',
      KVSTORE_PERSECOND_URL: `127.0.0.1:${String(port)}`,
    });
    await untilLogged(service, `cannot reach the store at 127.0.0.1:${String(port)}`);
    await isNotStarted(service);
    const perSecond = await startRedis(port);
    await becomesReady(service);
    await untilLogged(service, `the store at 127.0.0.1:${String(port)} is back`);
    await perSecond.kill();
    await untilLogged(service, `lost the store at 127.0.0.1:${String(port)}`);
    expect(await look(service)).toEqual(READY);
  });

  it('until its directory of rules is there, be it empty', async () => {
    const root = join(folder, 'later');
    const service = await start({ RUNTIME_ROOT: root, BACKEND_TYPE: 'memory' });
    await untilLogged(service, 'the directory of rule files cannot be read');
    await isNotStarted(service);
    mkdirSync(join(root, 'config'), { recursive: true });
    await becomesReady(service);
  });

  it('unless it shall start without rules', async () => {
    const service = await start({
      RUNTIME_ROOT: join(folder, 'never'),
      BACKEND_TYPE: 'memory',
      FORCE_START_WITHOUT_INITIAL_CONFIG: 'true',
    });
    await becomesReady(service);
  });
});

const STORE_DOWN = 'store: down (does not count: KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION=false)\n';

it('says that the store is down while it hangs and when it is dead, though it does not count', async () => {
  const redis = await startRedis();
  const service = await start({
    KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
    KVSTORE_TIMEOUT: '40ms',
  });
  await becomesReady(service);
  const says = (store: string) =>
    eventually(async () => {
      await ask(service, 'example', 'api_key=a');
      const { status, text } = await look(service, '/readyz?verbose');
      expect([status, text]).toEqual([200, expect.stringContaining(`start: up\n${store}`)]);
    });
  await says('store: up\n');
  redis.pause();
  await says(STORE_DOWN);
  redis.resume();
  await says('store: up\n');
  await redis.stop();
  servers.splice(servers.indexOf(redis), 1);
  await says(STORE_DOWN);
});

it('tells whether it lives from whether it is ready, and names every component', async () => {
  const port = String(await freePort());
  const service = await start({ KVSTORE_URL: `127.0.0.1:${port}` });
  expect(await look(service, '/livez')).toMatchObject({ status: 200, text: 'OK' });
  await isNotStarted(service, '/readyz');
  await eventually(async () => {
    expect(await look(service, '/readyz?verbose')).toMatchObject({
      status: 500,
      text: `start: down\n${STORE_DOWN}configuration: up\n${withWorkers('workers: up\n')}termination: up\n`,
    });
  });
  for (const [path, status] of [
    ['/livez', 200],
    ['/readyz', 500],
  ] as const) {
    const head = await fetch(`${service.http}${path}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([status, '']);
    const post = await fetch(`${service.http}${path}`, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
});

const REDIS_TLS = { KVSTORE_URL: '127.0.0.1:1', KVSTORE_TLS: 'true' };
const XDS_TLS = { CONFIG_TYPE: 'GRPC_XDS_SOTW', CONFIG_GRPC_XDS_SERVER_USE_TLS: 'true' };

it.each([
  ['KVSTORE_TLS_CACERT', REDIS_TLS],
  ['KVSTORE_AUTH_FILE', { KVSTORE_URL: '127.0.0.1:1' }],
  [
    'MEMSTORE_TLS_CACERT',
    { BACKEND_TYPE: 'memstore', MEMSTORE_HOST_PORT: 'a:1', MEMSTORE_TLS: 'true' },
  ],
  ['CONFIG_GRPC_XDS_SERVER_TLS_CACERT', XDS_TLS],
  [
    'OTEL_EXPORTER_OTLP_CERTIFICATE',
    { TRACING_ENABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'https://127.0.0.1:1' },
  ],
])('ends the start with 1 when the file of %s cannot be read', async (name, env) => {
  const file = join(folder, 'missing.pem');
  const service = await startService({ env: { ...env, [name]: file }, waitUntilUp: false });
  const [code] = (await once(service.child, 'close')) as [number];
  expect(code).toBe(1);
  const reason = 'cannot read the file: it does not exist';
  expect(service.output()).toMatch(new RegExp(`${name}.*: ${reason}`));
  expect(service.output()).toContain(file);
});
