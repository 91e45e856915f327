import { readFileSync } from 'node:fs';
import { request, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { IdentityClient } from '../../src/identity/client';
import { readSettings } from '../../src/settings/settings';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import {
  identityCli,
  startIdentityProcess,
  stopIdentities,
} from '../support/edge/identity-service';
import { startRedisServer } from '../support/edge/redis-server';
import { startService, stopServices } from '../support/edge/service';

const FOLDER = join(__dirname, '../../examples/identity');

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
}

const read = (name: string): unknown => parse(readFileSync(join(FOLDER, name), 'utf8'));
const { services } = read('docker-compose.yml') as { readonly services: Record<string, Service> };
const environmentOf = (name: string) => services[name]?.environment ?? {};

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopIdentities();
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

it('opens the port of the proxy and no other', () => {
  const open = Object.entries(services).filter(([, { ports = [] }]) => ports.length > 0);
  expect(open.map(([name]) => name)).toEqual(['proxy']);
});

it.each(['decisions', 'identity'])('gives the service %s settings that it takes', (name) => {
  expect(readSettings(environmentOf(name))).toMatchObject({ ok: true, warnings: [] });
});

it('points the proxy at the port of the identity service, with the address of the caller', () => {
  const text = JSON.stringify(read('envoy.yaml'));
  expect(text).toContain('"address":"identity","port_value":8082');
  expect(text).toContain('"use_remote_address":true');
});

/** What the proxy of the example does: adds the caller to X-Forwarded-For and passes the rest on. */
async function startProxy(target: string, caller: string) {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, response) => {
    const headers = { ...incoming.headers, 'x-forwarded-for': `192.0.2.66, ${caller}` };
    const { url: path, method } = incoming;
    const call = request({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    call.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

it('works as it is written: proxy, identity, decisions, Redis', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const here = { KVSTORE_URL: `127.0.0.1:${String(redis.port)}` };
  const decisions = await startService({
    waitUntilUp: 'connected',
    env: { ...environmentOf('decisions'), ...here, RUNTIME_ROOT: FOLDER },
  });
  const identity = await startIdentityProcess({
    ...environmentOf('identity'),
    ...here,
    IDENTITY_RATELIMIT_ADDRESS: decisions.grpc,
    IDENTITY_TRUSTED_PROXIES: '127.0.0.1',
    IDENTITY_METRICS_ADDR: `127.0.0.1:${String(await freePort())}`,
  });
  const demo = await identityCli(identity.env, ['demo', '--json']);
  const { token = '' } = JSON.parse(demo.stdout) as { readonly token?: string };

  const ann = await startProxy(identity.baseUrl, '198.51.100.7');
  const guesser = await startProxy(identity.baseUrl, '198.51.100.8');
  const guess = new IdentityClient({ baseUrl: guesser.url });
  // Both within one minute, which may end between two.
  await eventually(async () => {
    await expect(guess.getUserInfo('guess')).rejects.toMatchObject({ status: 429 });
    await expect(guess.getUserInfo(token)).rejects.toMatchObject({ error: 'rate_limited' });
  });
  const info = await new IdentityClient({ baseUrl: ann.url }).getUserInfo(token);
  expect(info.user.id).toBe('demo');
  const keys = await redis.client.keys('identity_*');
  expect(keys.some((key) => key.includes('remote_address_198.51.100.8'))).toBe(true);
  expect(keys.some((key) => key.includes('192.0.2.66'))).toBe(false);
  await Promise.all([ann.stop(), guesser.stop()]);
});
