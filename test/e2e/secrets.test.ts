import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { eventually } from '../support/edge/eventually';
import { startHttpCollector } from '../support/otlp-collector';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startService, stopServices, type Service } from '../support/edge/service';
import { PROCESSES } from '../support/edge/test-workers';

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
  'bucket-5ecret',
  'window-5ecret',
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
  - key: bearer
    hash_value: true
    rate_limit: { unit: second, requests_per_unit: 100000 }
  - key: address
    hash_value: true
    rate_limit: { unit: hour, requests_per_unit: 1, algorithm: gcra }
  - key: address
    value: window-*
    rate_limit: { unit: hour, requests_per_unit: 1, algorithm: sliding_window }
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
      [[['address', 'bucket-5ecret']]],
      [[['address', 'window-5ecret']]],
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

const OPERATED: readonly (readonly [Pair[], object?])[] = [
  [[['api_key', 'matched-5ecret']]],
  [[['api_key', 'written-5ecret']]],
  [[['api_key', 'pk_live_5ecret']]],
  [[['api_key', 'unmatched-5ecret'], ['nothing', '1']]], // prettier-ignore
  [[['api_key', 'below-5ecret'], ['user', 'a']]], // prettier-ignore
  [[['team', 'a'], ['api_key', 'asked-5ecret']], { limit: { requestsPerUnit: 1, unit: 'DAY' } }], // prettier-ignore
  [[['address', 'bucket-5ecret']]],
  [[['address', 'window-5ecret']]],
];

/** All that the operator API says of these descriptors, and of none. */
async function operateOnAll({ debug }: Service): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const descriptors = OPERATED.map(([pairs, more]) => ({
    entries: pairs.map(([key, value]) => ({ key, value })),
    ...more,
  }));
  const body = JSON.stringify({ domain: 'shop', descriptors });
  const post = async (path: string, text = body) =>
    (await fetch(`${debug}/api/v1/${path}`, { method: 'POST', headers, body: text })).text();
  const get = async (path: string) => (await fetch(`${debug}/api/v1/${path}`)).text();
  const one = JSON.stringify({ domain: 'shop', descriptors: [descriptors[0]] });
  return (
    await Promise.all([
      post('explain'),
      post('explain?format=text'),
      post('explain', body.replace('"shop"', '"unknown"')),
      post('explain', body.slice(1)),
      post('counters/read'),
      post('counters/set', one.replace(/}$/, ',"used":1}')),
      post('counters/reset', one),
      get('rules'),
      get('hot?seconds=1'),
      get('limited'),
      get('version'),
    ])
  ).join('\n');
}

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

/** Keys and values of the store. */
async function dumpOf({ client }: RedisServer): Promise<string> {
  const dumps = (await client.keys('*')).map(async (key) => [key, await client.dump(key)]);
  return (await Promise.all(dumps)).flat().join('\n');
}

it.each([{}, { WORKERS: '2' }])(
  'shows no secret in any output, store, statistic or event: %j',
  async (env) => {
    await redis.client.flushall();
    const monitor = await redis.client.monitor();
    const commands: string[] = [];
    monitor.on('monitor', (_: string, args: string[]) => commands.push(args.join(' ')));
    const collector = await startHttpCollector();
    const decisions = join(directory, `decisions-${JSON.stringify(env)}.jsonl`);
    const service = await start({
      ...env,
      ADMIN_API: 'write',
      DEBUG_HOST: '127.0.0.1',
      DECISION_LOG: 'all',
      DECISION_LOG_SAMPLE: '1',
      DECISION_LOG_FILE: decisions,
      TRACING_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(collector.port)}`,
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
    const answers: string[] = [];
    const events = await eventsDuring(service, async () => answers.push(await askForAll(service)));
    const operator = await operateOnAll(service);
    await askForAll(service);
    const places: Readonly<Record<string, string>> = {
      answers: answers.join('\n'),
      events,
      operator,
      commands: commands.join('\n'),
      store: await dumpOf(redis),
      statistics: await page(service, '/stats'),
      rules: await page(service, '/rlconfig'),
    };
    await service.stop();
    monitor.disconnect();
    await collector.stop();
    const spans = collector.spans.map((span) => inspect(span, { depth: null })).join('\n');
    const log = readFileSync(decisions, 'utf8');
    const simulated = simulate(decisions);
    const all = { ...places, output: service.output(), log, simulated };
    const leaks = Object.entries({ ...all, spans }).flatMap(([place, text]) =>
      SECRETS.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${place}`),
    );
    expect(leaks).toEqual([]);
    // Each place was in use: what is not there cannot leak.
    for (const [place, text] of Object.entries(all))
      expect(`${place}: ${text}`).toMatch(
        /api_key(?:[=_.]|"[^"]*")h7-[0-9a-f]{32}|"h7-[0-9a-f]{29}/,
      );
    expect(spans).toContain('POST /json');
    expect(all.output).toContain('loaded the secret keys');
    expect(all.output).toContain('counters were reset');
  },
  60_000,
);

/** What the replay of a decision log prints and writes. */
function simulate(log: string): string {
  const script = join(__dirname, '../../dist/src/bin/ratelimit-simulate.js');
  const decisions = join(directory, 'simulated.jsonl');
  const rules = ['-config_dir', join(directory, 'config'), '-input', log, '-decisions', decisions];
  const { stdout, stderr } = spawnSync(process.execPath, [script, ...rules]);
  return [stdout, stderr, readFileSync(decisions)].join('\n');
}

it('resets the counter of a token, which is all that an operator sees of a customer', async () => {
  await redis.client.flushall();
  const service = await start({ ADMIN_API: 'write', DEBUG_HOST: '127.0.0.1' });
  await askFor(service, [['api_key', 'matched-5ecret']]);
  const [key = ''] = await redis.client.keys('shop_api_key_*');
  const [token = ''] = /h7-[0-9a-f]{32}/.exec(key) ?? [];
  const entries = [{ key: 'api_key', value: token }];
  const response = await fetch(`${service.debug}/api/v1/counters/reset`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ domain: 'shop', descriptors: [{ entries }] }),
  });
  expect(JSON.stringify(await response.json())).toContain(`"key":"${key}"`);
  expect(await redis.client.exists(key)).toBe(0);
  // To a client a token is a value like any other.
  await askFor(service, [['api_key', token]]);
  expect(await redis.client.exists(key)).toBe(0);
});

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
  const keysLine = async ({ http }: Service) => {
    const ready = await fetch(`${http}/readyz?verbose`);
    return [ready.status, /^keys: .*$/m.exec(await ready.text())?.[0]];
  };
  expect(await keysLine(wrong)).toEqual([500, 'keys: down']);
  expect(await keysLine(right)).toEqual([200, 'keys: up']);
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
  expect(await keysLine(allowed)).toEqual([
    200,
    'keys: down (does not count: HEALTHY_WITH_EQUAL_KEYS=false)',
  ]);
});

/** Announces key 8 to all these services for a second that begins soon. Returns that second, of Unix time. */
async function announceKey(file: string, services: readonly Service[]): Promise<number> {
  const second = `8 ${Buffer.alloc(32, 3).toString('base64')}`;
  for (let times = 1; ; times++) {
    const from = Math.ceil(Date.now() / 1_000) + 3;
    writeFileSync(file, `${KEYS}${second} from ${new Date(from * 1_000).toISOString()}\n`);
    await eventually(() => {
      for (const service of services)
        expect(service.output().match(/"loaded the secret keys".* ids="7, 8"/g)).toHaveLength(
          times * PROCESSES.atStore,
        );
    });
    // On a machine that took too long for it, once more.
    if (Date.now() < (from - 1) * 1_000) return from;
  }
}

it('loses and doubles no count of two instances when the key changes', async () => {
  const file = join(directory, 'rotated-keys');
  writeFileSync(file, KEYS, { mode: 0o600 });
  const both = await Promise.all([1, 2].map(() => start({ SECRET_KEYS_FILE: file })));
  const from = await announceKey(file, both);
  const monitor = await redis.client.monitor();
  const windows = new Map<string, Set<string>>();
  monitor.on('monitor', (_: string, args: string[]) => {
    for (const [, token = '', window = ''] of args
      .join(' ')
      .matchAll(/shop_bearer_(h\d)\S*_(\d+)/g))
      windows.set(window, (windows.get(window) ?? new Set()).add(token));
  });
  const remaining: number[] = [];
  for (let i = 0; Date.now() / 1_000 < from + 1.5; i++) {
    const answer = await askFor(both[i % 2] as Service, [['bearer', 'turned-5ecret']]);
    const { statuses } = JSON.parse(answer) as { statuses: [{ limitRemaining: number }] };
    remaining.push(statuses[0].limitRemaining);
    await delay(5);
  }
  monitor.disconnect();
  // The first hit of a window leaves 99,999, each further one a hit less.
  const firsts = remaining.filter((one) => one === 99_999);
  const others = remaining.filter(
    (one, at) => one !== 99_999 && one !== (remaining[at - 1] ?? 0) - 1,
  );
  expect([firsts.length, others]).toEqual([windows.size, []]);
  expect(Object.fromEntries([...windows].map(([window, tokens]) => [window, [...tokens]]))).toEqual(
    Object.fromEntries(
      [...windows.keys()].map((window) => [window, [Number(window) < from ? 'h7' : 'h8']]),
    ),
  );
  expect(new Set([...windows.values()].flatMap((tokens) => [...tokens]))).toEqual(
    new Set(['h7', 'h8']),
  );
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
