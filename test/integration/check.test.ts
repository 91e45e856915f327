import { connect } from 'node:net';
import { StoreError } from '../../src/core/errors';
import type { CounterReply, Counters, PendingRequest } from '../../src/core/ports';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { createDecideBatch } from '../../src/decisions/decide-batch';
import { HTTP_TIMEOUTS } from '../../src/platform/http-listener';
import type { CheckSet } from '../../src/request-maps/check';
import { parseCheckFiles } from '../../src/rule-sources/check-files';
import { DEFAULT_BOUNDS, type TransportBounds } from '../../src/transport/bounds';
import { createHttpTransport } from '../../src/transport/http/transport';
import { createSnapshot, type HealthStatus } from '../../streams';
import { recordingStatistics, SERVING } from '../support/transport-harness';
import { PLAIN_DECISIONS } from '../support/decider';
import { eventually } from '../support/edge/eventually';
import { httpLimits } from '../support/http-limits';
import { send, sendBytes } from '../support/raw-http';
import { rulesOf } from '../support/rules';

/** 40 s before the end of a minute. */
const NOW = 1_700_002_820;
const RULES = rulesOf('shop', [
  { key: 'user', limit: { requestsPerUnit: 2, unit: 'MINUTE', name: 'per user' } },
  { key: 'page', limit: [1, 'HOUR'] },
  { key: 'cost', limit: [10, 'MINUTE'] },
  { key: 'shadow', limit: [1, 'HOUR'], shadowMode: true },
  { key: 'local', limit: [1, 'HOUR'], onStoreError: 'deny' },
]);

const MAP = `domain: shop
descriptors:
  - entries: [{ key: user, header: x-user }]
  - entries: [{ key: page, parameter: page }]
  - entries: [{ key: cost, cookie: cost }]
  - entries: [{ key: shadow, header: x-shadow }]
  - entries: [{ key: local, header: x-local }]
`;
const POLICIES = {
  policies: 'all',
  retryAfter: true,
  nearHeader: '',
  jitterPercent: 0,
  problemBody: false,
  figures: true,
} as const;
const AWAY = new StoreError('store_unavailable', 'r1:6379 is away');

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

type Files = Readonly<Record<string, string>>;

function setOf(map: string | Files): CheckSet {
  const files = typeof map === 'string' ? { 'check.yaml': map } : map;
  const list = Object.entries(files).map(([file, text]) => ({ file, bytes: Buffer.from(text) }));
  const from = { files: list, isDirectory: typeof map !== 'string' };
  const { set, problems } = parseCheckFiles(from, DEFAULT_BOUNDS);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return set;
}

/** The port with the decisions of the service behind it, and counters in memory. */
async function start(
  map: string | Files = MAP,
  counters: Pick<Counters, 'add'> = inMemory(),
  few: Partial<TransportBounds> = {},
) {
  const health = createSnapshot<HealthStatus<string>>(SERVING);
  const { statistics, counts } = recordingStatistics();
  const limits = httpLimits();
  const warnings: (readonly [string, Readonly<Record<string, string>>])[] = [];
  const checks = createSnapshot<CheckSet | undefined>(setOf(map));
  const transport = createHttpTransport(
    {
      ...{ health, statistics },
      check: {
        checks,
        policies: POLICIES,
        warn: (message, fields) => warnings.push([message, fields]),
      },
    },
    {
      ...{ host: '127.0.0.1', port: 0, limits, timeouts: HTTP_TIMEOUTS },
      bounds: { ...DEFAULT_BOUNDS, ...few },
    },
  );
  const decideBatch = createDecideBatch(
    {
      ...{ rules: { current: RULES }, counters, clock: () => NOW, random: () => 0 },
      onFault: (error) => {
        throw error;
      },
    },
    PLAIN_DECISIONS,
  );
  const batches: (readonly PendingRequest[])[] = [];
  const abandoned: number[] = [];
  transport.requests$.subscribe((batch) => {
    batches.push(batch);
    void Promise.resolve(decideBatch(batch)).then((stats) => abandoned.push(stats.abandoned));
  });
  const address = await transport.listen();
  const port = 'port' in address ? address.port : 0;
  closes.push(() => transport.close(0));
  const url = `http://127.0.0.1:${String(port)}`;
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    send(`${url}${path}`, Object.entries(headers), method);
  const counted = (outcome: string) => counts.get(`ratelimit.check.${outcome}`);
  return { ask, port, counted, warnings, batches, checks, limits, abandoned };
}

function inMemory() {
  return createMemoryCounters({ clock: () => NOW }, { maxKeys: 1_000, maxBytes: 1_000_000 });
}

const failing = (error: Error): Pick<Counters, 'add'> => ({
  add: () => Promise.reject(error),
});

describe('/check', () => {
  it('answers 200 without a body, then 429 with one line of JSON, and says what headers say', async () => {
    const { ask, counted } = await start();
    const first = await ask('/check', { 'x-user': 'ann' });
    expect([first.status, first.body, first.headers['content-length']]).toEqual([200, '', '0']);
    expect(first.headers).toMatchObject({
      'ratelimit-policy': '"per user";q=2;w=60',
      ratelimit: '"per user";r=1;t=40',
    });
    await ask('/check', { 'x-user': 'ann' });
    const over = await ask('/check', { 'x-user': 'ann' });
    expect(over.status).toBe(429);
    expect(JSON.parse(over.body)).toEqual({
      error: 'a rate limit is exceeded',
      code: 'over_limit',
    });
    expect(over.headers).toMatchObject({
      'content-type': 'application/json',
      'retry-after': '40',
      'x-weir-limited-by': 'per user',
      ratelimit: '"per user";r=0;t=40',
    });
    await eventually(() => {
      expect(['allowed', 'denied', 'undecided'].map(counted)).toEqual([2, 1, 0]);
    });
  });

  it.each(['POST', 'HEAD', 'DELETE', 'OPTIONS'])('answers %s like GET', async (method) => {
    const { ask } = await start();
    const statuses = [];
    for (let times = 0; times < 3; times += 1)
      statuses.push((await ask('/check?x', { 'x-user': 'ann' }, method)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('names a rule that has no name only where the check says so', async () => {
    const files = { 'open.yaml': `${MAP}show_rule: true\n`, 'shy.yaml': MAP };
    const { ask } = await start(files);
    await ask('/check/shy?page=1');
    const shy = await ask('/check/shy?page=1');
    expect([shy.status, shy.headers['x-weir-limited-by']]).toEqual([429, undefined]);
    const open = await ask('/check/open?page=1');
    expect([open.status, open.headers['x-weir-limited-by']]).toEqual([429, 'shop.page']);
  });

  it('takes parameters, cookies and hits, and lets a call without a descriptor pass', async () => {
    const { ask, counted } = await start(`${MAP}hits: { header: x-cost }\n`);
    expect((await ask('/check?page=a')).status).toBe(200);
    expect((await ask('/check?x=1&page=%61&page=b')).status).toBe(429);
    const costs = ['4', '0', '-1', 'many', '1.5', '99999999999', '1'];
    const left = [];
    for (const cost of costs) {
      const { headers } = await ask('/check', { cookie: 'a=b; cost=c', 'x-cost': cost });
      left.push(/r=(\d+)/.exec(headers['ratelimit'] ?? '')?.[1]);
    }
    expect(left).toEqual(['6', '5', '4', '3', '2', '1', '0']);
    const none = await ask('/check');
    expect([none.status, none.headers['ratelimit']]).toEqual([200, undefined]);
    await eventually(() => {
      expect(counted('without_descriptor')).toBe(1);
    });
  });

  it('answers the status of the check, and knows a check by its name alone', async () => {
    const { ask } = await start({ 'shop.yaml': `${MAP}denied_status: 403\n`, 'b/c.yml': MAP });
    await ask('/check/shop?page=1');
    expect((await ask('/check/shop?page=1')).status).toBe(403);
    expect((await ask('/check/b/c?page=2')).status).toBe(200);
    for (const path of ['/check', '/check/shop/', '/check/other', '/check/shop.yaml', '/checks'])
      expect((await ask(path)).status).toBe(404);
  });

  it('says so before the first check was loaded', async () => {
    const { ask, checks } = await start();
    checks.set(undefined);
    const answer = await ask('/check');
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      503,
      { error: 'no file of CHECK_CONFIG was loaded yet, see the log', code: 'no_rules' },
    ]);
    expect((await ask('/healthcheck')).status).toBe(200);
  });

  it.each([
    ['match', "  - entries: [{ key: user, header: x-user, match: '^a+b' }]\n"],
    ['when', "  - when: { field: path, matches: 'b$' }\n    entries: [{ key: user, value: v }]\n"],
  ])('runs no pattern over more than 2 KiB, and answers 414 instead (%s)', async (kind, entry) => {
    const files = {
      'a.yaml': `domain: shop\ndescriptors:\n${entry}`,
      'b.yaml': `domain: shop\ntoo_long_status: 403\non_error: allow\ndescriptors:\n${entry}`,
    };
    const proxied = `proxy: nginx\ntrusted_proxies: [127.0.0.1]\n`;
    const maps = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, text + proxied]),
    );
    const { ask, counted, batches } = await start(maps);
    const askWith = (name: string, text: string) =>
      ask(`/check/${name}`, {
        'x-user': text,
        'x-original-uri': `/${text}`,
        'x-real-ip': '1.1.1.1',
      });
    // In the path a slash is before it; the second has three bytes in one letter.
    const room = 2_048 - (kind === 'when' ? 1 : 0);
    expect((await askWith('a', `${'a'.repeat(room - 1)}b`)).status).toBe(200);
    expect((await askWith('a', 'c'.repeat(room))).status).toBe(200);
    for (const long of ['a'.repeat(room + 1), `${'a'.repeat(room - 2)}\u00e2\u0082\u00ac`]) {
      const answer = await askWith('a', long);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        414,
        {
          error: 'a value is longer than patterns are run over (2048 bytes)',
          code: 'invalid_request',
        },
      ]);
      expect((await askWith('b', long)).status).toBe(403);
    }
    expect(batches).toHaveLength(1);
    await eventually(() => {
      expect(counted('malformed')).toBe(4);
    });
  });

  it('compares a value of any length, where no pattern is run over it', async () => {
    const { ask } = await start(
      'domain: shop\ndescriptors: [{ entries: [{ key: user, header: x-user }] }]\n',
    );
    expect((await ask('/check', { 'x-user': 'a'.repeat(4_000) })).status).toBe(200);
  });

  it('takes a request line with a whole URL as one with the path alone', async () => {
    const { port, ask } = await start(
      'domain: shop\ndescriptors: [{ entries: [{ key: user, field: host }] }]\n',
    );
    const last = 'Connection: close\r\n\r\n';
    const statuses = [];
    for (const line of ['http://a/check', 'HTTP://A:80/check?x', 'http://a/check'])
      statuses.push(
        (await sendBytes(port, `GET ${line} HTTP/1.1\r\nHost: b\r\n${last}`)).slice(9, 12),
      );
    expect(statuses).toEqual(['200', '200', '429']);
    expect((await ask('/check')).status).toBe(200);
    for (const [line, status] of [
      ['http://a/livez', '200'],
      ['http://a?x', '404'],
      ['http://a', '404'],
    ] as const)
      expect(await sendBytes(port, `GET ${line} HTTP/1.1\r\nHost: b\r\n${last}`)).toMatch(
        `HTTP/1.1 ${status} `,
      );
  });

  it('refuses a value that no request may hold', async () => {
    const { ask, counted, batches } = await start(MAP, inMemory(), { maxValueBytes: 8 });
    expect((await ask('/check', { 'x-user': '12345678' })).status).toBe(200);
    // Three characters, nine bytes.
    const answer = await ask('/check?page=%E2%82%AC%E2%82%AC%E2%82%AC');
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      { error: 'a value has more bytes than MAX_VALUE_BYTES (8)', code: 'invalid_request' },
    ]);
    expect(batches).toHaveLength(1);
    await eventually(() => {
      expect(counted('malformed')).toBe(1);
    });
  });

  it('decides the calls of a connection one after the other, and answers them in their order', async () => {
    const { port, batches } = await start();
    const call = (user: string, more = '') =>
      `GET /check HTTP/1.1\r\nHost: a\r\nX-User: ${user}\r\n${more}\r\n`;
    const calls = ['ann', 'ann', 'ann', 'bob'].map((user) => call(user)).join('');
    const answers = await sendBytes(port, `${calls}${call('bob', 'Connection: close\r\n')}`);
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '200', '429', '200', '200']);
    expect(batches.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1]);
  });

  it('ignores rules in shadow mode in what it says', async () => {
    const { ask } = await start();
    await ask('/check', { 'x-shadow': 'a' });
    const answer = await ask('/check', { 'x-shadow': 'a' });
    expect([answer.status, answer.headers['ratelimit']]).toEqual([200, undefined]);
  });
});

describe('a call for which there is no decision', () => {
  it('passes, or is refused where on_error says deny', async () => {
    const files = { 'allow.yaml': MAP, 'deny.yaml': `${MAP}on_error: deny\ndenied_status: 403\n` };
    const { ask, counted } = await start(files, failing(AWAY));
    expect((await ask('/check/allow', { 'x-user': 'ann' })).status).toBe(200);
    const denied = await ask('/check/deny', { 'x-user': 'ann' });
    expect([denied.status, JSON.parse(denied.body)]).toEqual([
      403,
      { error: 'the counter store cannot be reached', code: 'store_unavailable' },
    ]);
    await eventually(() => {
      expect(counted('undecided')).toBe(2);
    });
  });

  it('goes by on_store_error of the rule before', async () => {
    const { ask } = await start(MAP, failing(AWAY));
    const answer = await ask('/check', { 'x-local': 'a' });
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '1']);
  });

  it('has its answer where connections hold too much', async () => {
    const { ask, limits, batches } = await start({
      'allow.yaml': MAP,
      'deny.yaml': `${MAP}on_error: deny\n`,
    });
    Object.defineProperty(limits.budget, 'isSpent', { value: true });
    const user = { 'x-user': 'ann' };
    expect((await ask('/check/allow', user)).status).toBe(200);
    expect((await ask('/check/deny', user)).status).toBe(429);
    expect((await ask('/quota/allow', user)).status).toBe(503);
    expect((await ask('/json', {}, 'POST')).status).toBe(503);
    expect(batches).toEqual([]);
  });

  it('writes nothing to a caller that has gone, and keeps its hit', async () => {
    let reply: (answer: CounterReply) => void = () => undefined;
    const hanging = { add: () => new Promise<CounterReply>((resolve) => (reply = resolve)) };
    const { port, batches, abandoned } = await start(MAP, hanging);
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /check HTTP/1.1\r\nHost: a\r\nX-User: ann\r\n\r\n');
    await eventually(() => {
      expect(batches).toHaveLength(1);
    });
    socket.destroy();
    await eventually(() => {
      const [[pending] = []] = batches;
      expect(pending?.responder.hasLeft?.(0)).toBe(true);
    });
    reply({ after: [1], held: undefined, failures: undefined });
    await eventually(() => {
      expect(abandoned).toEqual([1]);
    });
  });
});

describe('without a proxy', () => {
  const BY_HOST = 'domain: shop\ndescriptors: [{ entries: [{ key: user, field: host }] }]\n';
  const BY_HEADER = 'domain: shop\ndescriptors: [{ entries: [{ key: user, header: host }] }]\n';
  const CLOSE = 'Connection: close\r\n\r\n';
  const statusOf = async (port: number, head: string) =>
    (await sendBytes(port, `${head}${CLOSE}`)).slice(9, 12);

  it.each([
    ['two headers Host', 'GET /check HTTP/1.1\r\nHost: b\r\nHost: api.example\r\n'],
    ['a user in the Host', 'GET /check HTTP/1.1\r\nHost: user@api.example\r\n'],
    ['a user in the target', 'GET http://u:p@api.example/check HTTP/1.1\r\nHost: a\r\n'],
    ['an empty part of the name', 'GET /check HTTP/1.1\r\nHost: api.example..\r\n'],
    ['a comma', 'GET /check HTTP/1.1\r\nHost: b,api.example\r\n'],
    ['a space', 'GET /check HTTP/1.1\r\nHost: api.example x\r\n'],
    ['a port that is none', 'GET /check HTTP/1.1\r\nHost: api.example:x:80\r\n'],
    ['bytes beyond ASCII', 'GET /check HTTP/1.1\r\nHost: \u00e4pi.example\r\n'],
    ['brackets around a name', 'GET /check HTTP/1.1\r\nHost: [api.example]\r\n'],
    ['no Host', 'GET /check HTTP/1.0\r\n'],
  ])('refuses a call with %s where the map reads the host', async (_, head) => {
    const { port, counted, batches } = await start({ 'a.yaml': BY_HOST, 'b.yaml': BY_HEADER });
    for (const name of ['a', 'b'])
      expect(await statusOf(port, head.replace('/check', `/check/${name}`))).toBe('400');
    expect(batches).toEqual([]);
    await eventually(() => {
      expect(counted('malformed')).toBe(2);
    });
  });

  it('counts a host as one, however its name or its IPv6 address is written', async () => {
    const { port } = await start(BY_HOST);
    const ask = (host: string) => statusOf(port, `GET /check HTTP/1.1\r\nHost: ${host}\r\n`);
    for (const spellings of [
      ['api.example', 'API.example.', 'api.example:8080'],
      ['[::1]', '[0:0::1]:80', '[0000:0::0:1]'],
    ]) {
      const statuses = [];
      for (const host of spellings) statuses.push(await ask(host));
      expect(statuses).toEqual(['200', '200', '429']);
    }
  });

  it('reads no host where the map needs none', async () => {
    const { port } = await start();
    for (const head of ['HTTP/1.1\r\nHost: a@b\r\nHost: c\r\n', 'HTTP/1.0\r\n'])
      expect(await statusOf(port, `GET /check ${head}`)).toBe('200');
  });

  it.each([
    ['FOO /check HTTP/1.1\r\nHost: a\r\n', '400'],
    ['CONNECT a:80 HTTP/1.1\r\nHost: a\r\n', '405'],
    ['GET /check HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n', '417'],
  ])('leaves to Node what it does not know, uncounted: %j', async (head, status) => {
    const { port, batches } = await start(BY_HOST);
    expect(await statusOf(port, head)).toBe(status);
    expect(batches).toEqual([]);
  });
});

describe('behind a proxy', () => {
  const trusting = (network: string) => `domain: shop
proxy: nginx
trusted_proxies: [${network}]
descriptors:
  - entries: [{ key: user, field: remote_address }]
`;
  const written = { 'X-Original-URI': '/', 'X-Real-IP': '203.0.113.7' };

  it('counts for whom the proxy names, whatever the client writes beside it', async () => {
    const { ask } = await start(trusting('127.0.0.1'));
    const statuses = [];
    for (const lie of ['1.1.1.1', '2.2.2.2', '3.3.3.3'])
      statuses.push(
        (await ask('/check', { ...written, 'X-Forwarded-For': lie, 'X-Forwarded-Uri': `/${lie}` }))
          .status,
      );
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('refuses a call of a proxy that is not set up, with one warning', async () => {
    const { ask, warnings, counted } = await start(trusting('127.0.0.1'));
    for (let times = 0; times < 2; times += 1) {
      const answer = await ask('/check');
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        400,
        {
          error: 'the proxy nginx must send the header x-real-ip',
          code: 'invalid_request',
        },
      ]);
    }
    expect(warnings).toEqual([
      [
        expect.stringContaining('does not send what the check needs'),
        { check: '', proxy: 'nginx', header: 'x-real-ip' },
      ],
    ]);
    await eventually(() => {
      expect(counted('malformed')).toBe(2);
    });
  });

  it('asks a peer that is not trusted for one host, as a call without a proxy', async () => {
    const map =
      'domain: shop\nproxy: nginx\ntrusted_proxies: [10.0.0.0/8]\ndescriptors: [{ entries: [{ key: user, field: host }] }]\n';
    const { port, counted } = await start(map);
    const answer = await sendBytes(
      port,
      'GET /check HTTP/1.1\r\nHost: .\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    await eventually(() => {
      expect([counted('untrusted'), counted('malformed')]).toEqual([1, 1]);
    });
  });

  it('takes a peer that is not trusted for the client, with one warning', async () => {
    const { ask, warnings, counted } = await start(trusting('10.0.0.0/8'));
    const statuses = [];
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3'])
      statuses.push((await ask('/check', { ...written, 'X-Real-IP': address })).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect(warnings).toEqual([
      [
        expect.stringContaining('a peer that is not a trusted proxy'),
        { check: '', peer: '127.0.0.1', header: 'x-original-uri' },
      ],
    ]);
    await eventually(() => {
      expect(counted('untrusted')).toBe(3);
    });
  });
});

describe('/quota', () => {
  it('says what is left, and charges nothing', async () => {
    const { ask, counted } = await start();
    await ask('/check', { 'x-user': 'ann' });
    const look = () => ask('/quota?page=1', { 'x-user': 'ann' });
    const first = await look();
    expect([first.status, JSON.parse(first.body)]).toEqual([
      200,
      {
        limits: [
          {
            ...{ name: 'per user', limit: 2, unit: 'minute', remaining: 1 },
            ...{ resetSeconds: 40, limited: false },
          },
          { limit: 1, unit: 'hour', remaining: 1, resetSeconds: 3_580, limited: false },
        ],
      },
    ]);
    expect(first.headers['ratelimit']).toBe('"per user";r=1;t=40, "1-per-hour";r=1;t=3580');
    expect((await look()).body).toBe(first.body);
    await ask('/check', { 'x-user': 'ann' });
    expect(JSON.parse((await look()).body)).toMatchObject({
      limits: [{ remaining: 0, limited: true }, { limited: false }],
    });
    await eventually(() => {
      expect(['quota', 'allowed'].map(counted)).toEqual([3, 2]);
    });
  });

  it('names rules where the check shows them, and answers an empty list without a descriptor', async () => {
    const { ask } = await start(`${MAP}show_rule: true\n`);
    expect(JSON.parse((await ask('/quota?page=1')).body)).toMatchObject({
      limits: [{ rule: 'shop.page' }],
    });
    expect(JSON.parse((await ask('/quota')).body)).toEqual({ limits: [] });
  });

  it('does not guess while the store is away', async () => {
    const { ask } = await start(MAP, failing(AWAY));
    expect((await ask('/quota', { 'x-user': 'ann' })).status).toBe(503);
    expect(JSON.parse((await ask('/quota', { 'x-local': 'a' })).body)).toMatchObject({
      limits: [{ remaining: null, limited: true }],
    });
  });
});
