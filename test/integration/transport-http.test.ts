import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { failure } from '../../src/core/errors';
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../../src/platform/http-listener';
import { DEFAULT_BOUNDS, type TransportBounds } from '../../src/transport/bounds';
import { createHttpTransport } from '../../src/transport/http/transport';
import { createSnapshot, type HealthStatus } from '../../streams';
import {
  SERVING,
  OK,
  answering,
  recordingStatistics,
  type Script,
} from '../support/transport-harness';
import { eventually } from '../support/edge/eventually';
import { httpLimits } from '../support/http-limits';

const BODY = '{"domain":"d","descriptors":[{"entries":[{"key":"k","value":"v"}]}]}';
const MIB = 1024 * 1024;

describe('the HTTP port', () => {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function start(
    script: Script = () => OK,
    timeouts: Partial<HttpTimeouts> = {},
    bounds: TransportBounds = DEFAULT_BOUNDS,
    limits = httpLimits(),
  ) {
    const health = createSnapshot<HealthStatus<string>>(SERVING);
    const { statistics, counts } = recordingStatistics();
    const transport = createHttpTransport(
      { health, statistics },
      { host: '127.0.0.1', port: 0, limits, bounds, timeouts: { ...HTTP_TIMEOUTS, ...timeouts } },
    );
    const asked = answering(transport, script);
    const address = await transport.listen();
    const port = 'port' in address ? address.port : 0;
    cleanups.push(() => transport.close(0));
    const url = `http://127.0.0.1:${String(port)}`;
    const post = (body: string | Buffer | ReadableStream, headers: Record<string, string> = {}) =>
      fetch(`${url}/json`, { method: 'POST', body, headers, duplex: 'half' });
    return { ...asked, transport, health, counts, port, url, post };
  }

  it('answers a decision with 200 or 429, in JSON', async () => {
    const { post, requests } = await start(({ hitsAddend }) =>
      hitsAddend === 0 ? OK : { ...OK, overallCode: 'OVER_LIMIT', retryAfter: '7' },
    );
    const ok = await post(BODY);
    expect([ok.status, ok.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await ok.json()).toEqual({ overallCode: 'OK' });
    expect(ok.headers.get('etag')).toBeNull();
    expect(ok.headers.get('x-powered-by')).toBeNull();
    const over = await post('{"hits_addend":1}');
    expect([over.status, over.headers.get('content-type')]).toEqual([429, 'application/json']);
    expect([ok, over].map(({ headers }) => headers.get('retry-after'))).toEqual([null, '7']);
    expect(await over.json()).toEqual({ overallCode: 'OVER_LIMIT' });
    expect(requests()).toHaveLength(2);
  });

  it.each([
    ['invalid_request', 400],
    ['no_rules', 503],
    ['store_unavailable', 503],
    ['store_timeout', 503],
    ['internal', 500],
  ] as const)('answers a failure %s with %i', async (code, status) => {
    const { post } = await start(() => failure(code, 'why it failed'));
    const answer = await post(BODY);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ error: 'why it failed', code });
  });

  it('refuses what is no request with 400 that says where, and counts it', async () => {
    const { post, batches, counts } = await start();
    const answer = await post('{"domain":"d",\n"descriptors":[{"entrys":[]}]}');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json']);
    expect(await answer.json()).toEqual({
      error:
        'descriptors[0] has no field "entrys", expected one of entries, limit, hitsAddend, isNegativeHits',
      code: 'malformed',
      where: 'descriptors[0]',
    });
    expect(batches).toEqual([]);
    expect([...counts]).toEqual([['ratelimit_http.json.refused', 1]]);
  });

  it.each([
    ['an empty body', '', {}],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), {}],
    ['no gzip', BODY, { 'content-encoding': 'gzip' }],
    ['cut gzip', gzipSync(BODY).subarray(0, 20), { 'content-encoding': 'gzip' }],
    ['no deflate', BODY, { 'content-encoding': 'deflate' }],
    ['no brotli', BODY, { 'content-encoding': 'br' }],
  ])('refuses %s with 400', async (_about, body, headers) => {
    const { post } = await start();
    const answer = await post(body, headers);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'malformed' });
  });

  it.each([
    ['identity', Buffer.from(BODY)],
    ['gzip', gzipSync(BODY)],
    ['deflate', deflateSync(BODY)],
    ['br', brotliCompressSync(BODY)],
  ])('unpacks %s', async (encoding, body) => {
    const { post, requests } = await start();
    expect((await post(body, { 'content-encoding': encoding })).status).toBe(200);
    expect(requests()).toMatchObject([{ domain: 'd' }]);
  });

  it.each(['zstd', 'gzip, gzip', 'x'])(
    'refuses the content encoding %s with 415',
    async (encoding) => {
      const { post } = await start();
      const answer = await post(BODY, { 'content-encoding': encoding });
      expect(answer.status).toBe(415);
      expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br');
      expect(await answer.json()).toMatchObject({ code: 'unsupported_encoding' });
    },
  );

  it.each([
    ['a body that says its length', Buffer.alloc(MIB + 1, 0x20), {}],
    ['a body in chunks', new Blob([Buffer.alloc(2 * MIB, 0x20)]).stream(), {}],
    [
      'a small body that unpacks to 64 MiB',
      gzipSync(Buffer.alloc(64 * MIB)),
      { 'content-encoding': 'gzip' },
    ],
  ])('refuses %s over 1 MiB with 413', async (_about, body, headers) => {
    const { post } = await start();
    const answer = await post(body, headers);
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: 'too_large' });
    expect((await post(BODY)).status).toBe(200);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])(
    'takes 256 KiB out of a small body of %s, and no more than the ratio',
    async (encoding, pack) => {
      const { post, counts } = await start();
      const send = (bytes: number) =>
        post(pack(BODY.padEnd(bytes)), { 'content-encoding': encoding });
      expect((await send(256 * 1024)).status).toBe(200);
      const refused = await send(MIB - 1);
      expect(refused.status).toBe(413);
      expect(await refused.json()).toEqual({
        code: 'too_large',
        error: 'the body unpacks to more than MAX_UNPACK_RATIO (100) times its size',
      });
      expect([...counts]).toEqual([['ratelimit_http.json.refused', 1]]);
    },
  );

  it('takes a ratio up to MAX_UNPACK_RATIO', async () => {
    const bounds = { ...DEFAULT_BOUNDS, maxUnpackRatio: 100_000 };
    const { post } = await start(undefined, {}, bounds);
    const body = brotliCompressSync(BODY.padEnd(MIB));
    expect((await post(body, { 'content-encoding': 'br' })).status).toBe(200);
  });

  it.each(['plain', 'gzip'])('keeps to MAX_JSON_BYTES, %s', async (encoding) => {
    const { post } = await start(undefined, {}, { ...DEFAULT_BOUNDS, maxJsonBytes: 2_000 });
    const send = (bytes: number) => {
      const body = BODY.padEnd(bytes);
      if (encoding === 'plain') return post(body);
      return post(gzipSync(body), { 'content-encoding': encoding });
    };
    expect((await send(2_000)).status).toBe(200);
    const refused = await send(2_001);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      error: 'the body is larger than MAX_JSON_BYTES (2000)',
    });
  });

  it('refuses more descriptors than the settings allow with 400, and counts it', async () => {
    const { post, batches, counts } = await start();
    const descriptors = (count: number) =>
      `{"domain":"d",\n"descriptors":[${Array(count).fill('{}').join(',')}]}`;
    const answer = await post(descriptors(257));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: 'descriptors has more items than MAX_DESCRIPTORS (256)',
      code: 'invalid_request',
      where: 'descriptors',
    });
    expect(batches).toEqual([]);
    expect([...counts]).toEqual([['ratelimit_http.json.refused', 1]]);
    expect((await post(descriptors(256))).status).toBe(200);
  });

  it('reads a body that comes byte by byte', async () => {
    const { post, requests } = await start();
    const text = `{"domain":"${'é'.repeat(400)}"}`;
    const bytes = [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
    expect((await post(ReadableStream.from(bytes))).status).toBe(200);
    expect(requests()).toMatchObject([{ domain: 'é'.repeat(400) }]);
  });

  it('takes a body of exactly 1 MiB', async () => {
    const { post } = await start();
    expect((await post(BODY.padEnd(MIB))).status).toBe(200);
  });

  it('allows POST alone on /json', async () => {
    const { url } = await start();
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
      const answer = await fetch(`${url}/json`, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
  });

  it('says whether it is healthy, and what is not', async () => {
    const { url, health } = await start();
    const healthy = await fetch(`${url}/healthcheck`);
    expect([healthy.status, healthy.headers.get('content-type'), await healthy.text()]).toEqual([
      200,
      'text/plain',
      'OK',
    ]);
    health.set({ serving: false, down: ['config', 'termination'] });
    const sick = await fetch(`${url}/healthcheck`);
    expect([sick.status, await sick.text()]).toEqual([500, 'not healthy: config, termination\n']);
    const head = await fetch(`${url}/healthcheck`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([500, '']);
    const post = await fetch(`${url}/healthcheck`, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each(['/', '/JSON', '/json/', '/%', '/x', '/check', '/quota/shop'])(
    'knows no path %s and says what there is',
    async (path) => {
      const { url } = await start();
      const answer = await fetch(`${url}${path}`, { method: 'POST', body: BODY });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'not_found' });
    },
  );

  it('answers bytes that are no HTTP with 400 and headers without end with 431', async () => {
    const { port } = await start();
    const talk = async (text: string) => {
      const socket = connect(port, '127.0.0.1');
      let heard = '';
      socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
      socket.on('error', () => undefined);
      socket.write(text);
      await new Promise((resolve) => socket.once('close', resolve));
      return heard;
    };
    expect(await talk('\0\0\0\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*\r\n\r\n\{"error":/s);
    expect(await talk(`GET / HTTP/1.1\r\nx: ${'x'.repeat(100_000)}\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });

  it('cuts callers that send their headers or bodies too slowly', async () => {
    const { port } = await start(undefined, { headersMs: 100, requestMs: 200, checkEveryMs: 20 });
    const slow = [
      'POST /json HTTP/1.1\r\nHost: x\r\n',
      'POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
    ];
    for (const text of slow) {
      const socket = connect(port, '127.0.0.1');
      let heard = '';
      socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
      socket.write(text);
      await once(socket, 'close');
      expect(heard).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    }
  });

  it('forgets a caller that hangs up', async () => {
    const { port, waiting, post } = await start(({ domain }) => (domain === 'd' ? undefined : OK));
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(BODY.length)}\r\n\r\n${BODY}`,
    );
    await eventually(() => {
      expect(waiting).toHaveLength(1);
    });
    socket.destroy();
    await once(socket, 'close');
    expect((await post('{}')).status).toBe(200);
    const [taken] = waiting.map(({ responder, callId }) => responder.answer(callId, OK));
    expect(taken).toBe(false);
  });

  it('answers what is in flight when it closes, and closes the connections that it keeps', async () => {
    const { waiting, post, transport, completed, url } = await start(() => undefined);
    const pending = post(BODY);
    await eventually(() => {
      expect(waiting).toHaveLength(1);
    });
    const closed = transport.close(10_000);
    for (const { responder, callId } of waiting) responder.answer(callId, OK);
    const answer = await pending;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    await answer.text();
    await closed;
    expect(completed).toEqual(['questions$', 'run$']);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('cuts what is not answered in time', async () => {
    const { waiting, post, transport } = await start(() => undefined);
    const pending = post(BODY);
    pending.catch(() => undefined);
    await eventually(() => {
      expect(waiting).toHaveLength(1);
    });
    await transport.close(50);
    await expect(pending).rejects.toThrow();
  });

  it('names the address that it cannot listen on', async () => {
    const { port } = await start();
    const { statistics } = recordingStatistics();
    const second = createHttpTransport(
      { health: createSnapshot(SERVING), statistics },
      { host: '127.0.0.1', port, limits: httpLimits() },
    );
    await expect(second.listen()).rejects.toThrow(
      `cannot listen on 127.0.0.1:${String(port)}: address already in use`,
    );
  });
});
