import { rm, writeFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTokenCheck } from '../../src/platform/token-file';
import type { AdminEndpoint, AdminRequest } from '../../src/transport/debug/admin/admin-router';
import type { CheckToken } from '../../src/transport/debug/admin/admit';
import { createDebugListener } from '../../src/transport/debug/listener';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';
import { httpLimits } from '../support/http-limits';
import { piecesOf } from '../support/run-steps';
import { sendBytes } from '../support/raw-http';
import { createRecordingLogger } from '../support/recording-logger';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Setup {
  readonly access?: 'read' | 'write';
  readonly checkToken?: CheckToken;
  readonly protectAll?: boolean;
  readonly isOff?: boolean;
}

async function start({
  access = 'read',
  checkToken,
  protectAll = false,
  isOff = false,
}: Setup = {}) {
  const seen: AdminRequest[] = [];
  let nowMs = 0;
  const endpoint = (method: 'GET' | 'POST', name: string, of: 'read' | 'write'): AdminEndpoint => ({
    method,
    path: `/api/v1/${name}`,
    access: of,
    *handle(request) {
      seen.push(request);
      nowMs += Number(request.query.get('work'));
      yield;
      if (request.query.has('fail')) throw new Error('on purpose');
      return { status: 200, body: { got: request.body } };
    },
  });
  const endpoints = [
    endpoint('GET', 'rules', 'read'),
    endpoint('POST', 'explain', 'read'),
    endpoint('POST', 'counters/reset', 'write'),
  ];
  const bounds = { ...DEFAULT_BOUNDS, maxJsonBytes: 1_024 };
  const listener = createDebugListener(
    {
      dumpRules: () => [],
      dumpStats: () => piecesOf(),
      dumpStatsJson: () => piecesOf(),
      live: {
        start: () => undefined,
        stop: () => undefined,
        base: { version: 1, read: () => ({}) },
        next: () => ({}),
      },
      clock: () => 0,
      monotonicMs: () => nowMs,
      admin: isOff ? undefined : { endpoints, access, bounds },
      checkToken,
      rulesVersion: () => 'sha256:3f9c',
    },
    {
      host: '127.0.0.1',
      port: 0,
      limits: httpLimits(),
      allowedHosts: ['debug.example.com'],
      adminHosts: ['Admin.example.com'],
      protectAll,
    },
  );
  const address = await listener.listen();
  cleanups.push(() => listener.close(0));
  const port = 'port' in address ? address.port : 0;
  /** The status line's number and the whole answer. */
  const ask = async (line: string, headers: readonly string[] = [], body = '') => {
    const all = [`${line} HTTP/1.1`, 'Connection: close', ...headers];
    if (!headers.some((header) => header.startsWith('Host:'))) all.push('Host: localhost');
    if (line.startsWith('POST')) all.push(`Content-Length: ${String(Buffer.byteLength(body))}`);
    const answer = await sendBytes(port, `${all.join('\r\n')}\r\n\r\n${body}`);
    return { status: Number(answer.split(' ')[1]), answer };
  };
  return {
    port,
    ask,
    seen,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

const JSON_TYPE = 'Content-Type: application/json';
const GET = 'GET /api/v1/rules';

describe('who may call the operator API', () => {
  it.each([
    [[], 200],
    [['Host: 10.0.0.1:6070'], 200],
    [['Host: debug.example.com'], 200],
    [['Host: ADMIN.example.com:6070'], 200],
    [['Host: evil.example.com'], 403],
    [['Origin: http://evil.example.com'], 403],
    [['Origin: null'], 403],
    [['Host: localhost:6070', 'Origin: http://localhost:6070'], 200],
    [['Host: localhost:6070', 'Origin: http://localhost:8080'], 403],
    [['Origin: https://admin.example.com'], 200],
    [['Origin: http://proxy.example.com', 'Sec-Fetch-Site: same-origin'], 200],
    [['Sec-Fetch-Site: same-origin'], 200],
    [['Sec-Fetch-Site: none'], 200],
    [['Sec-Fetch-Site: cross-site'], 403],
    [['Sec-Fetch-Site: same-site'], 403],
    [['Host: evil.example.com', 'Sec-Fetch-Site: same-origin'], 403],
  ])('headers %j get %i', async (headers, expected) => {
    const { ask } = await start();
    const { status, answer } = await ask(GET, headers);
    expect(status).toBe(expected);
    expect(answer).not.toMatch(/Access-Control/i);
  });

  it('a request without a host gets what a foreign host gets', async () => {
    const { port } = await start();
    const answer = await sendBytes(port, `${GET} HTTP/1.0\r\n\r\n`);
    expect(answer).toMatch('HTTP/1.1 403 ');
    expect(answer).toContain('foreign_host');
  });

  it('other pages of the port keep their own answer to a foreign host', async () => {
    const { ask } = await start();
    expect((await ask('GET /', ['Host: evil.example.com'])).status).toBe(421);
    expect((await ask('GET /', ['Host: admin.example.com'])).status).toBe(200);
  });

  it('refuses what changes counters unless ADMIN_API=write', async () => {
    const line = 'POST /api/v1/counters/reset';
    const reading = await start();
    expect(await reading.ask(line, [JSON_TYPE], '{}')).toMatchObject({ status: 403 });
    expect(reading.seen).toHaveLength(0);
    const writing = await start({ access: 'write' });
    expect(await writing.ask(line, [JSON_TYPE], '{"a":1}')).toMatchObject({ status: 200 });
    expect(writing.seen).toMatchObject([{ body: { a: 1 }, peer: '127.0.0.1' }]);
  });

  it('off, the port knows nothing of it', async () => {
    const { ask } = await start({ isOff: true });
    expect((await ask(GET)).status).toBe(404);
  });

  it.each([
    ['Content-Type: text/plain', 415],
    ['Content-Type: application/x-www-form-urlencoded', 415],
    ['X-None: 1', 415],
    ['Content-Type: Application/JSON; charset=utf-8', 200],
  ])('a body of %s gets %i', async (header, expected) => {
    const { ask } = await start();
    expect((await ask('POST /api/v1/explain', [header], '{}')).status).toBe(expected);
  });

  it.each([
    ['PUT /api/v1/explain', [JSON_TYPE], '', 405],
    ['OPTIONS /api/v1/explain', [], '', 405],
    ['GET /api/v1/nothing', [], '', 404],
    ['POST /api/v1/explain', [JSON_TYPE], '{', 400],
    ['POST /api/v1/explain', [JSON_TYPE], `"${'x'.repeat(2_000)}"`, 413],
    ['GET /api/v1/rules?fail=1', [], '', 500],
  ])('%s with %j gets %4$i', async (line, headers, body, expected) => {
    const { ask } = await start();
    expect((await ask(line, headers, body)).status).toBe(expected);
  });

  it.each([
    'GET /api/v1/rules?work=100',
    'POST /api/v1/explain?work=100',
    'POST /api/v1/counters/reset?work=100',
  ])('%s beyond half a second of work gets 429, and then a tenth of the time', async (line) => {
    const { ask, advance, seen } = await start({ access: 'write' });
    const call = async () => {
      const { status, answer } = await ask(line, [JSON_TYPE], '{}');
      return [status, /Retry-After: (\d+)/.exec(answer)?.[1], /too_many_calls/.exec(answer)?.[0]];
    };
    const served = [200, undefined, undefined];
    const refused = (seconds: string) => [429, seconds, 'too_many_calls'];
    for (let i = 0; i < 5; i += 1) expect(await call()).toEqual(served);
    expect(await call()).toEqual(served);
    expect(await call()).toEqual(refused('1'));
    advance(400);
    expect(await call()).toEqual(refused('1'));
    advance(1_000);
    expect(await call()).toEqual(served);
    expect(await call()).toEqual(refused('1'));
    expect(seen).toHaveLength(7);
  });

  it('answers calls that come together one after the other', async () => {
    const { port, seen } = await start();
    const get = `${GET} HTTP/1.1\r\nHost: localhost\r\n`;
    const answers = await sendBytes(port, `${get}\r\n${get}\r\n${get}Connection: close\r\n\r\n`);
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(
      [200, 200, 200].map((ok) => `HTTP/1.1 ${String(ok)}`),
    );
    expect(seen).toHaveLength(3);
  });
});

describe('the token of the operator API', () => {
  async function withToken(setup: Setup = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'weir-token-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const file = join(folder, 'token');
    await writeFile(file, 's3cret\n');
    let nowMs = 0;
    const { logger, lines } = createRecordingLogger();
    const checkToken = createTokenCheck(file, { monotonicMs: () => nowMs, logger });
    const service = await start({ ...setup, checkToken });
    const next = () => {
      nowMs += 1_000;
    };
    return { ...service, file, lines, next };
  }
  const basic = (text: string) => `Authorization: Basic ${Buffer.from(text).toString('base64')}`;

  it.each([
    ['X-None: 1', 401],
    ['Authorization: Bearer wrong', 401],
    ['Authorization: Bearer s3cre', 401],
    ['Authorization: Bearer s3cret', 200],
    ['Authorization: bearer s3cret', 200],
    ['Authorization: Digest s3cret', 401],
    [basic('ann:s3cret'), 200],
    [basic('ann:wrong'), 401],
    [basic('s3cret'), 401],
  ])('%s gets %i', async (header, expected) => {
    const { ask, seen } = await withToken();
    const { status, answer } = await ask(GET, [header]);
    expect(status).toBe(expected);
    expect(seen.map(({ tokenId }) => tokenId)).toEqual(expected === 200 ? ['1ec1c26b'] : []);
    expect(answer.includes('WWW-Authenticate: Basic realm="weir"')).toBe(expected === 401);
  });

  it('does not help a page of a foreign site', async () => {
    const { ask } = await withToken();
    const headers = ['Authorization: Bearer s3cret', 'Origin: http://evil.example.com'];
    expect((await ask(GET, headers)).status).toBe(403);
  });

  it('is for /api/v1/ alone, unless ADMIN_PROTECT_ALL', async () => {
    const open = await withToken();
    expect((await open.ask('GET /')).status).toBe(200);
    const closed = await withToken({ protectAll: true });
    expect((await closed.ask('GET /')).status).toBe(401);
    expect((await closed.ask('GET /ui/events')).status).toBe(401);
    expect((await closed.ask('GET /', ['Authorization: Bearer s3cret'])).status).toBe(200);
  });

  it('changes with its file; while that is empty or gone the last good one stays', async () => {
    const { ask, file, lines, next } = await withToken();
    const statusOf = async (token: string) =>
      (await ask(GET, [`Authorization: Bearer ${token}`])).status;
    await writeFile(file, 'another');
    expect(await statusOf('s3cret')).toBe(200);
    next();
    expect([await statusOf('s3cret'), await statusOf('another')]).toEqual([401, 200]);
    await writeFile(file, '');
    next();
    expect(await statusOf('another')).toBe(200);
    await rm(file);
    next();
    expect(await statusOf('another')).toBe(200);
    expect(JSON.stringify(lines)).not.toMatch(/s3cret|another"/);
  });

  it('stops the start when its file cannot be read or holds none', async () => {
    const { file, next } = await withToken();
    next();
    const { logger } = createRecordingLogger();
    const deps = { monotonicMs: () => 0, logger };
    expect(() => createTokenCheck(`${file}.none`, deps)).toThrow(/ADMIN_TOKEN_FILE.*ENOENT/);
    await writeFile(file, 'a b');
    expect(() => createTokenCheck(file, deps)).toThrow(/expected a token of 1 to 4096 bytes/);
  });
});

it('/rlconfig says in a header which rules it shows', async () => {
  const { ask } = await start();
  expect((await ask('GET /rlconfig')).answer).toContain('X-Weir-Rules: sha256:3f9c');
});
