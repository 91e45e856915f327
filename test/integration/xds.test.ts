import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { followServer, type XdsFollower } from '../support/edge/xds-follower';
import { startAdsServer, type AdsServer, type AdsServerOptions } from '../support/edge/xds-server';
import { manyLimits, response, toResource, TYPE_URL, userLimit } from '../support/xds-messages';

let servers: AdsServer[] = [];
let followers: XdsFollower[] = [];

async function serve(options: AdsServerOptions = {}): Promise<AdsServer> {
  const server = await startAdsServer(options);
  servers.push(server);
  return server;
}

function follow(...parameters: Parameters<typeof followServer>): XdsFollower {
  const follower = followServer(...parameters);
  followers.push(follower);
  return follower;
}

jest.setTimeout(30_000);

afterEach(() => {
  for (const follower of followers) follower.stop();
  for (const server of servers) server.stop();
  servers = [];
  followers = [];
});

/** The port in `127.0.0.1:4711`. */
const portOf = ({ target }: AdsServer) => Number(target.split(':')[1]);

const BAD = { name: 'shop.rules', domain: 'shop', descriptors: [{ value: 'x' }, { key: '' }] };

describe('rules from a management server, state of the world', () => {
  it('asks for the rules by type, with the node and the headers, and acknowledges them', async () => {
    const server = await serve();
    const follower = follow({ target: server.target, headers: { 'x-token': 'hush', tenant: 't' } });
    const stream = await server.opened(1);
    const node = { id: 'node-1', metadata: { fields: { zone: { stringValue: 'a' } } } };
    expect(await stream.requested(1)).toEqual({ typeUrl: TYPE_URL, versionInfo: '', node });
    expect(stream.headers.get('x-token')).toBe('hush');
    expect(stream.headers.get('tenant')).toBe('t');
    stream.send(response('v1', 'n1', [userLimit('shop', 5), userLimit('web', 7)]));
    expect(await follower.loaded(1)).toBe('shop=5 web=7');
    const ack = { typeUrl: TYPE_URL, versionInfo: 'v1', responseNonce: 'n1', node };
    expect(await stream.requested(2)).toEqual(ack);
  });

  it('refuses a bad version once, names every mistake, and keeps what it had', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const stream = await server.opened(1);
    stream.send(response('v1', 'n1', [userLimit('shop', 5)]));
    await stream.requested(2);
    stream.send(
      response('v2', 'n2', [BAD, { domain: 'web', descriptors: [{ key: 'a' }, { key: 'a' }] }]),
    );
    const nack = await stream.requested(3);
    expect(nack).toMatchObject({
      versionInfo: 'v1',
      responseNonce: 'n2',
      errorDetail: { code: 3 },
    });
    expect(nack.errorDetail?.message.split('\n')).toEqual([
      'shop.rules: descriptors[0]: a descriptor has no key: expected a non-empty string',
      'shop.rules: descriptors[1]: a descriptor has no key: expected a non-empty string',
      'web: descriptors[1]: key "a" is already defined at descriptors[0]; expected each key and value once on a level; for several limits of one value use rate_limits, see docs/rules.md',
    ]);
    expect(await follower.loaded(2)).toContain('error shop.rules: descriptors[0]: a descriptor');
    stream.send(response('v3', 'n3', [userLimit('shop', 6)]));
    expect(await follower.loaded(3)).toBe('shop=6');
    expect(await stream.requested(4)).toMatchObject({ versionInfo: 'v3', responseNonce: 'n3' });
    expect(stream.requests).toHaveLength(4);
  });

  it('takes zero resources as no rules', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const stream = await server.opened(1);
    stream.send(response('v1', 'n1', [userLimit('shop', 5)]));
    stream.send(response('v2', 'n2', []));
    await stream.requested(3);
    expect(await follower.loaded(2)).toBe('');
    expect(follower.loads[1]).toMatchObject({ ok: true, domainCount: 0 });
  });

  it('resumes on a new stream with the last accepted version and no nonce', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const first = await server.opened(1);
    first.send(response('v1', 'n1', [userLimit('shop', 5)]));
    await first.requested(2);
    first.fail(14, 'going down');
    const second = await server.opened(2);
    const hello = await second.requested(1);
    expect(hello.versionInfo).toBe('v1');
    expect(hello.responseNonce).toBeUndefined();
    expect(follower.warnings).toEqual([
      `no stream to the management server at ${server.target}: 14 UNAVAILABLE: going down; trying again in 0.0 s`,
    ]);
    second.send(response('v2', 'n1', [userLimit('shop', 6)]));
    expect(await follower.loaded(2)).toBe('shop=6');
  });

  it('loads what a server sent right before it ended the stream', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const first = await server.opened(1);
    first.send(response('v1', 'n1', [userLimit('shop', 5)]));
    first.end();
    expect(await follower.loaded(1)).toBe('shop=5');
    expect(await (await server.opened(2)).requested(1)).toMatchObject({ versionInfo: 'v1' });
  });

  it('takes a lower version after a restart of the server', async () => {
    const server = await serve({ port: await freePort() });
    const follower = follow({ target: server.target });
    const stream = await server.opened(1);
    stream.send(response('9', 'n9', [userLimit('shop', 9)]));
    await stream.requested(2);
    server.stop();
    const restarted = await serve({ port: portOf(server) });
    const second = await restarted.opened(1);
    expect((await second.requested(1)).versionInfo).toBe('9');
    second.send(response('1', 'n1', [userLimit('shop', 1)]));
    expect(await follower.loaded(2)).toBe('shop=1');
    expect(await second.requested(2)).toMatchObject({ versionInfo: '1', responseNonce: 'n1' });
  });

  it('waits for a server that starts late and for one that is slow to answer', async () => {
    const port = await freePort();
    const follower = follow({ target: `127.0.0.1:${String(port)}` });
    while (follower.warnings.length < 3) await new Promise(setImmediate);
    const server = await serve({ port });
    const stream = await server.opened(1);
    await stream.requested(1);
    expect(follower.loads).toEqual([]);
    stream.send(response('v1', 'n1', [userLimit('shop', 5)]));
    expect(await follower.loaded(1)).toBe('shop=5');
  });

  it('refuses another type and goes on', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const stream = await server.opened(1);
    stream.send({ ...response('v1', 'n1', []), typeUrl: 'type.googleapis.com/other.Thing' });
    expect(await stream.requested(2)).toMatchObject({
      typeUrl: TYPE_URL,
      versionInfo: '',
      responseNonce: 'n1',
      errorDetail: {
        code: 3,
        message: `the management server sent resources of type "type.googleapis.com/other.Thing"; expected ${TYPE_URL}`,
      },
    });
    const resources = [
      { ...toResource(userLimit('a', 1)), type_url: 'other' },
      { type_url: TYPE_URL, value: Buffer.from([0x0a, 0xff]) },
    ];
    stream.send({ ...response('v2', 'n2', []), resources });
    expect((await stream.requested(3)).errorDetail?.message).toMatch(
      /^resource 1: the type of the resource is "other"; expected .*\nresource 2: the resource is not a RateLimitConfig: /,
    );
    stream.send(response('v3', 'n3', [userLimit('shop', 5)]));
    expect(await follower.loaded(3)).toBe('shop=5');
  });

  it('answers a replayed nonce as what it comes with', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const stream = await server.opened(1);
    stream.send(response('v1', 'n1', [userLimit('shop', 5)]));
    await stream.requested(2);
    stream.send(response('v2', 'n1', [userLimit('shop', 6)]));
    expect(await stream.requested(3)).toMatchObject({ versionInfo: 'v2', responseNonce: 'n1' });
    stream.send(response('v1', 'n1', [userLimit('shop', 5)]));
    expect(await stream.requested(4)).toMatchObject({ versionInfo: 'v1', responseNonce: 'n1' });
    expect(await follower.loaded(3)).toBe('shop=5');
  });

  it('is not spun by a server that answers each NACK with the same version at once', async () => {
    let sent = 0;
    const server = await serve({
      onRequest: (stream) => {
        sent += 1;
        stream.send(response('bad', `n${String(sent)}`, [BAD]));
      },
    });
    const backoff = { initialMs: 1_000, maxMs: 60_000, jitter: 0 };
    const follower = follow({ target: server.target, backoff });
    const startedAt = performance.now();
    const stream = await server.opened(1);
    // NACKs: at once, then after 100, 150 and 225 ms.
    await stream.requested(5);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(470);
    expect(follower.loads).toHaveLength(1);
    expect(stream.requests.slice(1).map(({ responseNonce }) => responseNonce)).toEqual([
      'n1',
      'n2',
      'n3',
      'n4',
    ]);
  });

  it('is not spun by a server that answers each NACK with another type at once', async () => {
    let sent = 0;
    const server = await serve({
      onRequest: (stream) => {
        sent += 1;
        stream.send({ ...response('v1', `n${String(sent)}`, []), typeUrl: `type-${String(sent)}` });
      },
    });
    const backoff = { initialMs: 1_000, maxMs: 60_000, jitter: 0 };
    const follower = follow({ target: server.target, backoff });
    const startedAt = performance.now();
    const stream = await server.opened(1);
    await stream.requested(4);
    // NACKs: at once, then after 100 and 150 ms.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(245);
    expect(follower.loads).toHaveLength(1);
    expect(stream.requests.at(-1)?.errorDetail?.message).toContain('"type-3"');
    stream.send(response('v2', 'good', [userLimit('shop', 5)]));
    expect(await follower.loaded(2)).toBe('shop=5');
  });

  it('takes a mended version at once while a NACK is held back', async () => {
    const server = await serve();
    const follower = follow({
      target: server.target,
      backoff: { initialMs: 600_000, maxMs: 600_000, jitter: 0 },
    });
    const stream = await server.opened(1);
    stream.send(response('v1', 'n1', [BAD]));
    await stream.requested(2);
    stream.send(response('v1', 'n2', [BAD]));
    stream.send(response('v2', 'n3', [userLimit('shop', 5)]));
    expect(await follower.loaded(2)).toBe('shop=5');
    expect(await stream.requested(3)).toMatchObject({ versionInfo: 'v2', responseNonce: 'n3' });
  });

  it('ends a burst on its last version and skips what was superseded before it was looked at', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const stream = await server.opened(1);
    for (let i = 1; i <= 50; i += 1) {
      const bad = i === 49 ? [BAD] : [];
      stream.send(response(`v${String(i)}`, `n${String(i)}`, [userLimit('web', i), ...bad]));
    }
    await eventually(() => {
      const last = stream.requests.at(-1);
      expect(last).toMatchObject({ versionInfo: 'v50', responseNonce: 'n50' });
    });
    expect(stream.requests.length).toBeLessThan(51);
    expect(await follower.loaded(follower.loads.length)).toBe('web=50');
    for (const { errorDetail, responseNonce } of stream.requests)
      if (errorDetail !== undefined) expect(responseNonce).toBe('n49');
  });

  it('connects again when a message cannot be read', async () => {
    const server = await serve();
    const follower = follow({ target: server.target, maxMessageBytes: 1_000 });
    const first = await server.opened(1);
    first.send(response('v1', 'n1', [manyLimits(100, 1)]));
    const second = await server.opened(2);
    expect(follower.warnings[0]).toContain('RESOURCE_EXHAUSTED');
    second.send(response('v2', 'n1', [userLimit('shop', 5)]));
    expect(await follower.loaded(1)).toBe('shop=5');
  });

  it('takes a snapshot of 10 MiB when it may be that large', async () => {
    const server = await serve({ options: { 'grpc.max_send_message_length': -1 } });
    const follower = follow({ target: server.target, maxMessageBytes: 16 * 1_048_576 });
    const stream = await server.opened(1);
    const names = Array.from({ length: 10_000 }, (_, i) => `d${String(i)}`);
    const padding = 'x'.repeat(1_000);
    const configs = names.map((domain) => ({
      domain,
      descriptors: [
        { key: 'user', value: padding, rateLimit: { unit: 'DAY', requestsPerUnit: 1 } },
      ],
    }));
    stream.send(response('v1', 'n1', configs));
    expect(await stream.requested(2)).toMatchObject({ versionInfo: 'v1' });
    expect(follower.loads[0]).toMatchObject({ ok: true, domainCount: 10_000, ruleCount: 10_000 });
  });

  it('checks small and large responses the same', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const stream = await server.opened(1);
    stream.send(response('v1', 'n1', [manyLimits(2_000, 1)]));
    await stream.requested(2);
    stream.send(response('v2', 'n2', [BAD]));
    expect((await stream.requested(3)).errorDetail?.message).toContain('a descriptor has no key');
    stream.send(response('v3', 'n3', [{ ...manyLimits(2_000, 1), domain: '' }]));
    expect((await stream.requested(4)).errorDetail?.message).toBe(
      'many: the resource has no domain: expected domain: with a non-empty string',
    );
    expect(follower.loads.map(({ ok }) => ok)).toEqual([true, false, false]);
  });

  it('closes the connection when nobody follows any more', async () => {
    const server = await serve();
    const follower = follow({ target: server.target });
    const stream = await server.opened(1);
    await stream.requested(1);
    follower.stop();
    const next = follow({ target: server.target });
    await server.opened(2);
    expect(server.streams).toHaveLength(2);
    expect(next.warnings).toEqual([]);
  });
});
