import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { startRedisServer, type RedisServer } from '../support/redis-server';
import { startService, stopServices, type Service } from '../support/service';

const KEYS = `7 ${Buffer.alloc(32, 1).toString('base64')}\n`;
const OTHER_KEYS = `7 ${Buffer.alloc(32, 2).toString('base64')}\n`;
/** Values that must stand nowhere but in requests and in the file of rules. */
const SECRETS = [
  'matched-5ecret',
  'written-5ecret',
  'pk_live_5ecret',
  'unmatched-5ecret',
  'asked-5ecret',
  'below-5ecret',
  'foreign-5ecret',
];
const RULES = `
domain: shop
descriptors:
  - key: api_key
    hash_value: true
    detailed_metric: true
    rate_limit: { unit: day, requests_per_unit: 1 }
  - key: api_key
    value: written-5ecret
    rate_limit: { unit: hour, requests_per_unit: 1 }
  - key: api_key
    value: pk_live_*
    value_to_metric: true
    rate_limit: { unit: hour, requests_per_unit: 1 }
  - key: user
    descriptors:
      - key: api_key
        detailed_metric: true
        rate_limit: { unit: hour, requests_per_unit: 1 }
`;

let directory: string;
let redis: RedisServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'weir-secrets-'));
  mkdirSync(join(directory, 'config'));
  writeFileSync(join(directory, 'config', 'shop.yaml'), RULES);
  writeFileSync(join(directory, 'keys'), KEYS, { mode: 0o600 });
  writeFileSync(join(directory, 'other-keys'), OTHER_KEYS, { mode: 0o600 });
  redis = await startRedisServer();
});
afterEach(stopServices);
afterAll(async () => {
  await redis.stop();
  rmSync(directory, { recursive: true });
});

const start = (env: Readonly<Record<string, string>> = {}): Promise<Service> =>
  startService({
    env: {
      KVSTORE_SOCKET_TYPE: 'tcp',
      KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
      RUNTIME_ROOT: directory,
      SECRET_KEYS_FILE: join(directory, 'keys'),
      RESPONSE_DYNAMIC_METADATA: 'true',
      LOG_LEVEL: 'debug',
      DISABLE_STATS: 'false',
      USE_STATSD: 'false',
      LocalCacheSizeInBytes: '100000',
      ...env,
    },
  });

type Pair = readonly [key: string, value: string];

async function askFor(service: Service, pairs: readonly Pair[], more = {}, domain = 'shop') {
  const entries = pairs.map(([key, value]) => ({ key, value }));
  const body = JSON.stringify({ domain, descriptors: [{ entries, ...more }] });
  return (await fetch(`${service.http}/json`, { method: 'POST', body })).text();
}

/** All that a secret could stand in: every key name that is secret, matched or not, in whatever order and domain. */
async function askForAll(service: Service): Promise<string> {
  const limit = { requestsPerUnit: 1, unit: 'DAY' };
  const answers: string[] = [];
  // Twice: the second time they are over their limits.
  for (const round of [1, 2]) {
    for (const [pairs, more, domain] of [
      [[['api_key', 'matched-5ecret']]],
      [[['api_key', 'written-5ecret']]],
      [[['api_key', 'pk_live_5ecret']]],
      [[['user', 'a'], ['api_key', 'below-5ecret']]], // prettier-ignore
      [[['api_key', 'unmatched-5ecret'], ['nothing', String(round)]]], // prettier-ignore
      [[['team', 'a'], ['api_key', 'asked-5ecret']], { limit }], // prettier-ignore
      [[['api_key', 'foreign-5ecret']], {}, 'unknown'],
    ] as readonly (readonly [readonly Pair[], object?, string?])[])
      answers.push(await askFor(service, pairs, more, domain));
  }
  const cut =
    '{"domain":"shop","descriptors":[{"entries":[{"key":"api_key","value":"matched-5ecret"';
  for (const body of [cut, `${cut}5`, `${cut},"x":1}]}]}`])
    answers.push(await (await fetch(`${service.http}/json`, { method: 'POST', body })).text());
  return answers.join('\n');
}

const page = async (service: Service, path: string) =>
  (await fetch(`${service.debug}${path}`)).text();

/** Follows the events of the dashboard while something happens, until they show tokens of hot keys and of unmatched shapes. */
async function eventsDuring(service: Service, act: () => Promise<unknown>): Promise<string> {
  const abort = new AbortController();
  const response = await fetch(`${service.debug}/ui/events`, { signal: abort.signal });
  const reader = response.body?.getReader();
  let events = '';
  while (!/"hot":\[\{.*"unmatched":\[\{/.test(events)) {
    await act();
    const chunk = await reader?.read();
    events += Buffer.from(chunk?.value ?? []).toString();
  }
  abort.abort();
  return events;
}

it('shows no secret in any output, store, statistic or event', async () => {
  const monitor = await redis.client.monitor();
  const commands: string[] = [];
  monitor.on('monitor', (_: string, args: string[]) => commands.push(args.join(' ')));
  const service = await start();
  const answers: string[] = [];
  const events = await eventsDuring(service, async () => answers.push(await askForAll(service)));
  const keys = await redis.client.keys('*');
  const places: Readonly<Record<string, string>> = {
    answers: answers.join('\n'),
    events,
    commands: commands.join('\n'),
    store: keys.join('\n'),
    statistics: await page(service, '/stats'),
    rules: await page(service, '/rlconfig'),
    output: service.output(),
  };
  await service.stop();
  monitor.disconnect();
  const all = { ...places, output: service.output() };
  const leaks = Object.entries(all).flatMap(([place, text]) =>
    SECRETS.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${place}`),
  );
  expect(leaks).toEqual([]);
  // Each place was in use: what is not there cannot leak.
  for (const [place, text] of Object.entries(all))
    expect(`${place}: ${text}`).toMatch(/api_key(?:[=_.]|"[^"]*")h7-[0-9a-f]{32}|"h7-[0-9a-f]{29}/);
  expect(all.output).toContain('loaded the secret keys');
}, 30_000);

it('prints with ratelimit-hash-value the token under which the service counts', async () => {
  const service = await start();
  await askFor(service, [['api_key', 'matched-5ecret']]);
  const args = ['-key', 'api_key', '-key_file', join(directory, 'keys')];
  const script = join(__dirname, '../../dist/src/bin/ratelimit-hash-value.js');
  const run = (...more: string[]) =>
    spawnSync(process.execPath, [script, ...args, ...more], {
      input: 'matched-5ecret\r\n\nother\n',
    });
  const tokens = run().stdout.toString().trim().split('\n');
  expect(tokens).toHaveLength(2);
  expect((await redis.client.keys('shop_*')).join()).toContain(`shop_api_key_${tokens[0] ?? ''}_`);
  const refused = run('-id', '8');
  expect([refused.status, refused.stderr.toString()]).toEqual([
    1,
    'ratelimit-hash-value: -id 8 is not in the file: expected one of 7\n',
  ]);
});

it('takes an instance with other keys out of service, and only that one', async () => {
  await redis.client.flushall();
  const right = await start();
  await eventually(async () => {
    expect(await redis.client.keys('weir:key:*')).toEqual(['weir:key:7']);
  });
  const wrong = await start({ SECRET_KEYS_FILE: join(directory, 'other-keys') });
  await eventually(async () => {
    const health = await fetch(`${wrong.http}/healthcheck`);
    expect([health.status, await health.text()]).toEqual([500, 'not healthy: keys\n']);
  });
  expect(wrong.output()).toContain('secret keys differ from those of other instances');
  expect(await page(wrong, '/stats')).toContain('ratelimit.service.secret_key_mismatch: 1');
  expect(await page(right, '/stats')).toContain('ratelimit.service.secret_key_mismatch: 0');
  expect((await fetch(`${right.http}/healthcheck`)).status).toBe(200);
  const allowed = await start({
    SECRET_KEYS_FILE: join(directory, 'other-keys'),
    HEALTHY_WITH_EQUAL_KEYS: 'false',
  });
  await eventually(async () => {
    expect(await page(allowed, '/stats')).toContain('ratelimit.service.secret_key_mismatch: 1');
  });
  expect((await fetch(`${allowed.http}/healthcheck`)).status).toBe(200);
});

it('ends at the start with a bad file of keys, and shows none of it', async () => {
  writeFileSync(join(directory, 'bad-keys'), `1 ${'A'.repeat(20)}\n`);
  const service = await startService({
    env: { SECRET_KEYS_FILE: join(directory, 'bad-keys') },
    waitUntilUp: false,
  });
  await eventually(() => {
    expect(service.child.exitCode).toBe(1);
  });
  expect(service.output()).toContain('SECRET_KEYS_FILE: line 1: the key 1 has 15 bytes');
  expect(service.output()).not.toContain('AAAA');
});

it('refuses rules that need a key where there is none', async () => {
  const service = await start({ SECRET_KEYS_FILE: '' });
  expect(service.output()).toContain('set SECRET_KEYS_FILE, or hash_value: sha256');
  expect(await page(service, '/rlconfig')).toBe('');
});
