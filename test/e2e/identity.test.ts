import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { APIError } from '../../src/identity/client';
import { startStopwatch } from '../support/edge/core-time';
import { eventuallyWithin, expectFigure } from '../support/edge/figure';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { createStoreFile } from '../support/identity';
import {
  clientOf,
  identityCli,
  identityCommand,
  issue,
  startIdentityProcess,
  statusOf,
  stopIdentities,
  within2s,
} from '../support/edge/identity-service';
import { AUDIENCE, createSigningKey, ISSUER, signToken } from '../support/jwt-issuer';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startService, stopServices } from '../support/edge/service';

const ROOT = join(__dirname, '../..');
const RULES = join(ROOT, 'examples/identity');
const run = promisify(execFile);
let place: Awaited<ReturnType<typeof createStoreFile>>;
let redis: RedisServer | undefined;

beforeEach(async () => {
  place = await createStoreFile();
});
afterEach(async () => {
  await stopIdentities();
  await stopServices();
  await redis?.stop();
  redis = undefined;
  await place.remove();
});

const embedded = () => ({ IDENTITY_STORE_FILE: place.file, RUNTIME_ROOT: RULES });

it.each(['before', 'after'])(
  'prints a demo that works, made %s the service starts',
  async (when) => {
    const early = when === 'before' ? await identityCli(embedded(), ['demo']) : undefined;
    const identity = await startIdentityProcess(embedded());
    const demo = await identityCli(identity.env, ['demo']);
    const line = demo.stdout.split('\n').find((text) => text.startsWith('curl ')) ?? 'false';
    await eventuallyWithin(async () => {
      const { stdout } = await run('sh', ['-c', line]);
      expect(JSON.parse(stdout)).toMatchObject({ meta: { code: 200 }, user: { id: 'demo' } });
    }, within2s(identity));
    if (early !== undefined)
      expect(await statusOf(identity, early.stdout.split('\n')[0] ?? '')).toBe(200);
  },
);

it('limits guesses by the rules of the example, in process', async () => {
  const identity = await startIdentityProcess(embedded());
  const known = await issue(identity.env);
  expect(await statusOf(identity, known)).toBe(200);
  const unseen = await issue(identity.env, 'bob');
  const client = clientOf(identity);
  // A minute may end in between: then it takes some more.
  await eventually(async () => {
    expect(await statusOf(identity, 'guess')).toBe(429);
  });
  expect(await statusOf(identity, known)).toBe(200);
  await eventually(async () => {
    expect(await statusOf(identity, 'guess')).toBe(429);
    await expect(client.getUserInfo(unseen)).rejects.toMatchObject({
      name: 'APIError',
      status: 429,
      error: 'rate_limited',
      retryAfterSeconds: expect.any(Number) as number,
    });
  });
});

it('takes every token as soon as it is issued, more of them than guesses are allowed', async () => {
  const identity = await startIdentityProcess(embedded());
  await identityCommand(identity.env, ['user', 'add', '--id', 'ann']);
  for (let at = 0; at < 12; at++) {
    const { stdout } = await identityCommand(identity.env, ['token', 'issue', 'ann']);
    expect(await statusOf(identity, stdout.trim())).toBe(200);
  }
});

it('starts beside Services of Kubernetes that are called like its settings', async () => {
  const identity = await startIdentityProcess({
    ...embedded(),
    GRPC_PORT: 'tcp://10.0.0.1:8081',
    STATSD_PORT: 'udp://10.0.0.2:8125',
    IDENTITY_SERVICE_HOST: '10.0.0.3',
    IDENTITY_SERVICE_PORT: '8082',
    IDENTITY_PORT_8082_TCP: 'tcp://10.0.0.3:8082',
    IDENTITY_PORT_8082_TCP_ADDR: '10.0.0.3',
  });
  expect(identity.output()).toMatch(/GRPC_PORT=.*Kubernetes service link, treated as not set/);
  expect(identity.output()).not.toContain('10.0.0.3');
});

it.each(['grpc', 'json'])(
  'asks the decision service by %s, and goes on without it',
  async (kind) => {
    const decisions = await startService({ env: { RUNTIME_ROOT: RULES } });
    const address = kind === 'grpc' ? decisions.grpc : decisions.http.replace('http://', '');
    const asking = { IDENTITY_RATELIMIT: kind, IDENTITY_RATELIMIT_ADDRESS: address };
    const token = await issue(embedded());
    const identity = await startIdentityProcess({ ...embedded(), ...asking });
    const strict = await startIdentityProcess({
      ...embedded(),
      ...asking,
      IDENTITY_RATELIMIT_FAILURE: 'deny',
    });
    await eventually(async () => {
      expect(await statusOf(identity, token)).toBe(200);
      expect(await statusOf(strict, token)).toBe(200);
    });
    await eventually(async () => {
      expect(await statusOf(identity, 'guess')).toBe(429);
    });
    await decisions.stop();
    await eventually(async () => {
      expect(await statusOf(strict, token)).toBe(503);
    });
    const metrics = await (await fetch(`${identity.metricsUrl}/metrics`)).text();
    expect(metrics).toContain('reason="over_limit"');
  },
);

it.each(['off', 'process'])(
  'answers 503 within a second while Redis hangs, and 200 when it is back, limits: %s',
  async (limits) => {
    redis = await startRedisServer();
    const { port } = redis;
    const kvstore = { IDENTITY_STORE: 'kvstore', KVSTORE_URL: `127.0.0.1:${String(port)}` };
    const limiting = { IDENTITY_RATELIMIT: limits, RUNTIME_ROOT: RULES };
    const identity = await startIdentityProcess({ ...kvstore, ...limiting });
    const token = await issue(identity.env);
    await eventually(async () => {
      expect(await statusOf(identity, token)).toBe(200);
    });
    redis.pause();
    const elapsedMs = startStopwatch(identity);
    expect(await statusOf(identity, token)).toBe(503);
    expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 1_000 });
    await expect(clientOf(identity).getUserInfo(token)).rejects.toBeInstanceOf(APIError);
    redis.resume();
    await eventually(async () => {
      expect(await statusOf(identity, token)).toBe(200);
    });
  },
);

it('starts while Redis is away, answers 503 at once, and 200 as soon as it is there', async () => {
  const port = await freePort();
  const kvstore = { IDENTITY_STORE: 'kvstore', KVSTORE_URL: `127.0.0.1:${String(port)}` };
  const identity = await startIdentityProcess({ ...kvstore, IDENTITY_RATELIMIT: 'off' });
  const elapsedMs = startStopwatch(identity);
  expect(await statusOf(identity, 'idt_x')).toBe(503);
  expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 1_000 });
  expect((await fetch(`${identity.metricsUrl}/healthcheck`)).status).toBe(503);
  redis = await startRedisServer({ port });
  const token = await issue(identity.env);
  await eventually(async () => {
    expect(await statusOf(identity, token)).toBe(200);
  });
});

it('takes JWTs of the issuer that the settings name, until their session is revoked', async () => {
  const key = await createSigningKey('k1');
  const keys = join(place.folder, 'jwks.json');
  await writeFile(keys, JSON.stringify({ keys: [key.jwk] }));
  const identity = await startIdentityProcess({
    ...embedded(),
    IDENTITY_JWT_ISSUER: ISSUER,
    IDENTITY_JWT_AUDIENCE: AUDIENCE,
    IDENTITY_JWT_JWKS_FILE: keys,
  });
  await identityCommand(identity.env, ['user', 'add', '--id', 'ann']);
  const added = await identityCommand(identity.env, ['session', 'add', 'ann', '--id', 'sso-1']);
  expect(added).toMatchObject({ code: 0, stdout: 'sso-1\n' });
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const times = { iat: nowSeconds, exp: nowSeconds + 600 };
  const token = await signToken(key, { sub: 'ann', sid: 'sso-1', ...times });
  await eventuallyWithin(async () => {
    expect(await statusOf(identity, token)).toBe(200);
  }, within2s(identity));
  expect((await identityCommand(identity.env, ['session', 'revoke', 'sso-1'])).code).toBe(0);
  await eventuallyWithin(async () => {
    expect(await statusOf(identity, token)).toBe(401);
  }, within2s(identity));
  expect(identity.output()).not.toContain(token);
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'ends with 0 on %s, and says so',
  async (signal) => {
    const identity = await startIdentityProcess(embedded());
    expect(await identity.stop(signal)).toBe(0);
    expect(identity.output()).toMatch(
      new RegExp(`level=warning msg="stopping on ${signal}"\n.* level=warning msg=stopped\n$`),
    );
  },
);

it('names the setting of a port that it cannot have, and ends with 1', async () => {
  const identity = await startIdentityProcess(embedded());
  const { stderr, code } = await identityCli(identity.env, ['serve']);
  const address = identity.metricsUrl.replace('http://', '');
  const reason = `cannot listen on ${address} (IDENTITY_METRICS_ADDR): address already in use`;
  expect([code, stderr.trimEnd().split('\n').at(-1)]).toEqual([1, reason]);
});

it.each<[number, readonly string[], string, RegExp]>([
  [2, ['user', 'fly'], '', /no such command: "user fly"/],
  [2, ['user', 'show'], '', /0 values were given, expected <user>/],
  [2, ['user', 'add', '--colour', 'red'], '', /--colour/],
  [2, ['token', 'issue', 'ann', '--ttl', 'soon'], '', /--ttl "soon": expected a duration/],
  [2, ['session', 'add', 'ann', '--id', 'a b'], '', /--id: expected 1 to 128/],
  [2, ['session', 'add', 'ann', '--ttl', '0'], '', /--ttl "0": expected a duration/],
  [3, ['session', 'add', 'nobody'], '', /there is no user "nobody"/],
  [2, ['token', 'revoke'], 'abc', /standard input holds no token/],
  [
    2,
    ['user', 'import'],
    '{"id":"a"}\n{"id":7}\nx',
    /line 2\.id is a number[^]*line 3 is not valid JSON/,
  ],
  [3, ['user', 'show', 'nobody'], '', /there is no user "nobody"/],
  [3, ['token', 'issue', 'nobody'], '', /there is no user "nobody"/],
  [0, ['--help'], '', /^$/],
  [2, ['serve', '--port', '1'], '', /unknown argument "--port"\n\nusage: identity \[serve\]/],
  [2, ['serve', 'nonsense'], '', /unknown argument "nonsense"\n\nusage: identity \[serve\]/],
])('exits with %i: identity %j', async (code, words, input, stderr) => {
  const result = await identityCommand(embedded(), words, input);
  expect(result.code).toBe(code);
  expect(result.stderr).toMatch(stderr);
});

it('exits with 1 when the store is damaged or a setting is missing', async () => {
  const bad = await identityCli({ IDENTITY_STORE_FILE: place.folder }, ['user', 'list']);
  expect(bad).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot be used') as string,
  });
  const lost = await identityCli({ IDENTITY_STORE: 'kvstore' }, ['user', 'list']);
  expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining('KVSTORE_URL') as string });
});

it('warns of settings that it does not know, as the service does', async () => {
  const env = { ...embedded(), IDENTITY_STORE_FIEL: 'x' };
  const { code, stderr } = await identityCli(env, ['user', 'list']);
  const warning =
    'warning: IDENTITY_STORE_FIEL is not a setting: did you mean IDENTITY_STORE_FILE?\n';
  expect([code, stderr]).toEqual([0, warning]);
});

it('imports users from JSON lines and lists them as JSON', async () => {
  const lines = ['a', 'b'].map((id) => JSON.stringify({ id, emails: [{ value: `${id}@x.test` }] }));
  const imported = await identityCli(embedded(), ['user', 'import'], `${lines.join('\n')}\n\n`);
  expect(imported).toEqual({ code: 0, stdout: 'a\nb\n', stderr: '' });
  const listed = await identityCli(embedded(), ['user', 'list', '--json']);
  const users = listed.stdout.trim().split('\n');
  expect(users.map((line) => JSON.parse(line) as object)).toMatchObject([
    { id: 'a', emails: [{ value: 'a@x.test', type: null }], active: true },
    { id: 'b' },
  ]);
});

it('loses nothing when two commands write at once', async () => {
  const ids = ['a', 'b', 'c', 'd'];
  const results = await Promise.all(
    ids.map((id) => identityCli(embedded(), ['user', 'add', '--id', id])),
  );
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const { stdout } = await identityCli(embedded(), ['user', 'list']);
  expect(stdout.split('\n').filter((line) => line !== '')).toHaveLength(4);
});
