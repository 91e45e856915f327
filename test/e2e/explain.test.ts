import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRedisServer } from '../support/edge/redis-server';
import { createTemporaryDirectory, type TemporaryDirectory } from '../support/rule-directory';
import { sendBytes } from '../support/raw-http';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

const run = promisify(execFile);
const BIN = join(__dirname, '../../dist/src/bin');

const RULES = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: plan
    value: free
    descriptors:
      - key: path
        rate_limit: { unit: hour, requests_per_unit: 5 }
`;

let directory: TemporaryDirectory;
const files: string[] = [];
beforeAll(() => {
  directory = createTemporaryDirectory();
  directory.write('config/shop.yaml', RULES);
});
afterEach(stopServices);
afterAll(() => {
  directory.remove();
  for (const file of files) rmSync(file, { recursive: true });
});

const start = (env: Readonly<Record<string, string>> = {}) =>
  startService({ env: { BACKEND_TYPE: 'memory', RUNTIME_ROOT: directory.path, ...env } });

function tokenFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-token-'));
  files.push(folder);
  writeFileSync(join(folder, 'token'), 's3cret\n');
  return join(folder, 'token');
}

const post = (url: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const ANN = { domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };

it('explains over Redis with node and time to live, and moves no statistics', async () => {
  const redis = await startRedisServer();
  const service = await startService({
    waitUntilUp: 'connected',
    env: {
      RUNTIME_ROOT: directory.path,
      BACKEND_TYPE: 'redis',
      REDIS_URL: `127.0.0.1:${String(redis.port)}`,
    },
  });
  await ask(service, 'shop', 'user=ann');
  const statistics = async () =>
    (await (await fetch(`${service.debug}/stats`)).text())
      .split('\n')
      .filter((line) => /^ratelimit\.(service|redis)/.test(line));
  const before = await statistics();
  const answer = await post(`${service.debug}/api/v1/explain`, ANN);
  const explanation = (await answer.json()) as { descriptors: readonly object[] };
  expect(explanation.descriptors[0]).toMatchObject({
    path: [{ rule: 'user', at: 'shop.yaml:3:5' }],
    limit: { at: 'shop.yaml:4:17' },
    counter: { count: 1, store: `Redis at 127.0.0.1:${String(redis.port)}` },
    ifAsked: { code: 'OK', remaining: 0 },
  });
  expect(await statistics()).toEqual(before);
  await service.stop();
  await redis.stop();
});

it('lists rules, hot and limited keys, and says everywhere which rules are in force', async () => {
  const { debug, ...service } = await start();
  for (let i = 0; i < 3; i += 1) await ask({ debug, ...service }, 'shop', 'user=ann');
  const get = async (path: string) => (await fetch(debug + path)).json();
  const { rules, store } = (await get('/api/v1/version')) as {
    rules: { version: string };
    store: string;
  };
  expect([rules.version, store]).toEqual([
    expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    'memory',
  ]);
  const dump = await fetch(`${debug}/rlconfig`);
  expect(dump.headers.get('X-Weir-Rules')).toBe(rules.version);
  expect(await get('/api/v1/rules')).toMatchObject({
    total: 2,
    rules: [
      { id: 0, path: ['user'], at: 'shop.yaml:3:5', hits: 3, over: 1 },
      { id: 1, path: ['plan=free', 'path'], limit: { requestsPerUnit: 5, unit: 'HOUR' } },
    ],
  });
  expect(await get('/api/v1/rules?offset=1&limit=1')).toMatchObject({ rules: [{ id: 1 }] });
  expect(await get('/api/v1/limited')).toMatchObject({ keys: [{ limit: 2 }] });
  const hot = get('/api/v1/hot?seconds=1&by=over');
  const asking = setInterval(() => void ask({ debug, ...service }, 'shop', 'user=ann'), 50);
  expect(await hot).toMatchObject({ by: 'over', keys: [{ domain: 'shop', isOver: true }] });
  clearInterval(asking);
  for (const path of ['rules?limit=0', 'hot?seconds=11', 'hot?by=age', 'limited?limit=x'])
    expect((await fetch(`${debug}/api/v1/${path}`)).status).toBe(400);
});

it('refuses more than twenty descriptors and what /json refuses, in its words', async () => {
  const { debug, http } = await start();
  const many = { ...ANN, descriptors: Array.from({ length: 21 }, () => ANN.descriptors[0]) };
  expect((await post(`${debug}/api/v1/explain`, many)).status).toBe(400);
  const wrong = { ...ANN, descriptors: [{ entries: [{ kee: 'user' }] }] };
  const [explained, asked] = await Promise.all([
    post(`${debug}/api/v1/explain`, wrong),
    post(`${http}/json`, wrong),
  ]);
  expect([explained.status, await explained.json()]).toEqual([asked.status, await asked.json()]);
});

it('resets with write and the token, as one line and one count', async () => {
  const env = { ADMIN_API: 'write', ADMIN_TOKEN_FILE: tokenFile(), DEBUG_HOST: '0.0.0.0' };
  const service = await start(env);
  await ask(service, 'shop', 'user=ann');
  const url = `${service.debug}/api/v1/counters/reset`;
  expect((await post(url, ANN)).status).toBe(401);
  const reset = await post(url, ANN, { Authorization: 'Bearer s3cret' });
  expect(await reset.json()).toMatchObject({ counters: [{ count: 1 }] });
  expect(service.output()).toContain('counters were reset');
  expect(service.output()).not.toContain('s3cret');
});

describe('a write with a raw client', () => {
  let service: Service;
  beforeEach(async () => {
    service = await start({ ADMIN_API: 'write', ADMIN_TOKEN_FILE: tokenFile() });
    await ask(service, 'shop', 'user=ann');
  });

  const TOKEN = 'Authorization: Bearer s3cret';
  const JSON_BODY = 'Content-Type: application/json';

  /** The status that a reset with these headers gets, or a set where `used` is given. */
  async function write(headers: readonly string[], more: object = {}): Promise<number> {
    const body = JSON.stringify({ ...ANN, ...more });
    const name = 'used' in more ? 'set' : 'reset';
    const host = headers.some((header) => header.startsWith('Host:')) ? [] : ['Host: localhost'];
    const lines = [
      `POST /api/v1/counters/${name} HTTP/1.1`,
      ...host,
      ...headers,
      'Connection: close',
      `Content-Length: ${String(body.length)}`,
    ];
    const port = Number(new URL(service.debug).port);
    const answer = await sendBytes(port, `${lines.join('\r\n')}\r\n\r\n${body}`);
    expect(answer).not.toMatch(/access-control/i);
    return Number(answer.split(' ')[1]);
  }
  /** The count of the counter, lines in the log, and writes in the statistics. */
  async function traces() {
    const url = `${service.debug}/api/v1/counters/read`;
    const read = await post(url, ANN, { Authorization: 'Bearer s3cret' });
    const { counters } = (await read.json()) as { counters: readonly { count: number }[] };
    const statistics = await (await fetch(`${service.debug}/stats`)).text();
    return {
      count: counters[0]?.count,
      lines: service.output().match(/counters were (re)?set/g)?.length ?? 0,
      writes: Number(/^ratelimit\.admin\.writes: (\d+)/m.exec(statistics)?.[1] ?? 0),
    };
  }

  it('that comes from elsewhere, has no right or is no JSON is refused, and leaves no trace', async () => {
    const refused = {
      'foreign origin': await write([TOKEN, JSON_BODY, 'Origin: http://evil.example.com']),
      'origin of a sandbox': await write([TOKEN, JSON_BODY, 'Origin: null']),
      'foreign site': await write([TOKEN, JSON_BODY, 'Sec-Fetch-Site: cross-site']),
      'foreign host': await write([TOKEN, JSON_BODY, 'Host: evil.example.com']),
      'text body': await write([TOKEN, 'Content-Type: text/plain']),
      'body of a form': await write([TOKEN, 'Content-Type: application/x-www-form-urlencoded']),
      'body of no type': await write([TOKEN]),
      'no token': await write([JSON_BODY]),
      'wrong token': await write(['Authorization: Bearer s3cre', JSON_BODY]),
    };
    expect(refused).toEqual({
      'foreign origin': 403,
      'origin of a sandbox': 403,
      'foreign site': 403,
      'foreign host': 403,
      'text body': 415,
      'body of a form': 415,
      'body of no type': 415,
      'no token': 401,
      'wrong token': 401,
    });
    expect(await traces()).toEqual({ count: 1, lines: 0, writes: 0 });
  });

  it('that is admitted is one line and one count, a dry run none', async () => {
    const admitted = [TOKEN, JSON_BODY];
    expect(await write(admitted, { dryRun: true })).toBe(200);
    expect(await traces()).toEqual({ count: 1, lines: 0, writes: 0 });
    expect(await write(admitted, { used: 7 })).toBe(200);
    expect(await traces()).toEqual({ count: 7, lines: 1, writes: 1 });
    expect(await write(admitted)).toBe(200);
    expect(await traces()).toEqual({ count: 0, lines: 2, writes: 2 });
    expect(service.output()).not.toContain('s3cret');
  });
});

it('changes counters without a token from a loopback address only', async () => {
  const open = await startService({
    waitUntilUp: false,
    env: { BACKEND_TYPE: 'memory', ADMIN_API: 'write', DEBUG_HOST: '0.0.0.0' },
  });
  await once(open.child, 'close');
  expect(open.child.exitCode).toBe(1);
  expect(open.output()).toMatch(/ADMIN_API="write".*ADMIN_TOKEN_FILE.*DEBUG_HOST=127.0.0.1/);
  const local = await start({ ADMIN_API: 'write' });
  expect((await post(`${local.debug}/api/v1/counters/reset`, ANN)).status).toBe(200);
});

it('explains on the command line, with a service and without', async () => {
  const file = tokenFile();
  const service = await start({ ADMIN_TOKEN_FILE: file });
  const debug = service.debug.replace('http://', '');
  const pending = ['-explain', '-domain', 'shop', '-descriptors', 'plan=free'];
  const client = [join(BIN, 'ratelimit-client.js'), '-debug', debug, ...pending];
  const { stdout } = await run(process.execPath, [...client, '-token_file', file]);
  expect(stdout).toContain('plan=free: the rule plan=free (value, shop.yaml:5:5)');
  expect(stdout).toContain('no limit: too_shallow');
  const byUrl = ['-debug', `${service.debug}/`, '-token_file', file, '-json'];
  const json = await run(process.execPath, [...client, ...byUrl]);
  expect(JSON.parse(json.stdout)).toMatchObject({ overallCode: 'OK' });
  await expect(run(process.execPath, client)).rejects.toThrow(/-token_file/);
  const check = [join(BIN, 'ratelimit-config-check.js'), '-config_dir', directory.path];
  const offline = await run(process.execPath, [...check, ...pending]);
  expect(offline.stdout).toContain('no limit: too_shallow');
  const limited = ['-explain', '-domain', 'shop', '-descriptors', 'user=ann'];
  expect((await run(process.execPath, [...check, ...limited])).stdout).toContain(
    'limit 2 per day (fixed_window, config/shop.yaml:4:17)',
  );
  await expect(run(process.execPath, [...check, '-explain'])).rejects.toThrow(/needs -domain/);
});
