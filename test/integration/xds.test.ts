import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { XdsSourceOptions } from '../../src/rule-sources/xds-source';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { followServer, type XdsFollower } from '../support/edge/xds-follower';
import {
  startAdsServer,
  type AdsServer,
  type AdsServerOptions,
  type AdsStream,
} from '../support/edge/xds-server';
import { describeLoad } from '../support/followed-rules';
import { readTable } from '../support/text-table';
import {
  deltaResponse,
  manyLimits,
  response,
  toResource,
  TYPE_URL,
  userLimit,
} from '../support/xds-messages';

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

  it('names each resource that it cannot read', async () => {
    const server = await serve();
    follow({ target: server.target });
    const stream = await server.opened(1);
    const resources = [
      { ...toResource(userLimit('a', 1)), type_url: 'other' },
      { type_url: TYPE_URL, value: Buffer.from([0x0a, 0xff]) },
    ];
    stream.send({ ...response('v2', 'n2', []), resources });
    expect((await stream.requested(2)).errorDetail?.message).toMatch(
      /^resource 1: the type of the resource is "other"; expected .*\nresource 2: the resource is not a RateLimitConfig: /,
    );
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

describe('rules from a management server, delta', () => {
  it('subscribes to all with its node', async () => {
    const server = await serve();
    follow({ target: server.target, protocol: 'delta' });
    const node = { id: 'node-1', metadata: { fields: { zone: { stringValue: 'a' } } } };
    expect(await (await server.opened(1)).requested(1)).toEqual({ typeUrl: TYPE_URL, node });
  });

  it('finds the bad one of several responses that came together', async () => {
    const server = await serve();
    const { loads } = follow({ target: server.target, protocol: 'delta' });
    const stream = await server.opened(1);
    stream.send(deltaResponse('n1', 'v1', [userLimit('a', 1)]));
    stream.send(deltaResponse('n2', 'v2', [userLimit('b', 2)]));
    stream.send(deltaResponse('n3', 'v3', [BAD]));
    stream.send(deltaResponse('n4', 'v4', [userLimit('c', 3)]));
    await stream.requested(5);
    expect(describeLoad(loads.at(-1))).toBe('a=1 b=2 c=3');
    const nacks = stream.requests.filter(({ errorDetail }) => errorDetail !== undefined);
    expect(nacks.map(({ responseNonce }) => responseNonce)).toEqual(['n3']);
    expect(stream.requests.slice(1).map(({ responseNonce }) => responseNonce)).toEqual([
      'n1',
      'n2',
      'n3',
      'n4',
    ]);
  });

  it('is not spun by a server that answers each NACK with the same resources at once', async () => {
    let sent = 0;
    const server = await serve({
      onRequest: (stream) => {
        sent += 1;
        stream.send(deltaResponse(`n${String(sent)}`, 'v1', [BAD]));
      },
    });
    const { loads } = follow({
      target: server.target,
      protocol: 'delta',
      backoff: { initialMs: 1_000, maxMs: 60_000, jitter: 0 },
    });
    const startedAt = performance.now();
    await (await server.opened(1)).requested(5);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(470);
    expect(loads).toHaveLength(1);
  });
});

/** `asked` with what a request says, `versions=NAME:VERSION`, and `error=` with the code and the lines of its message. */
function requestLine(request: Awaited<ReturnType<AdsStream['requested']>>): string {
  const { versionInfo = '', responseNonce, errorDetail, initialResourceVersions } = request;
  const versions = Object.entries(initialResourceVersions ?? {}).map((pair) => pair.join(':'));
  return [
    'asked',
    ...(versionInfo === '' ? [] : [`version=${versionInfo}`]),
    ...(responseNonce === undefined ? [] : [`nonce=${responseNonce}`]),
    ...(versions.length === 0 ? [] : [`versions=${versions.join()}`]),
    ...(errorDetail === undefined
      ? []
      : [`error=${String(errorDetail.code)} ${toOneLine(errorDetail.message)}`]),
  ].join(' ');
}

const toOneLine = (text: string): string => text.replaceAll('\n', ' | ');

const TWICE = { domain: 'web', descriptors: [{ key: 'a' }, { key: 'a' }] };

/** `send VERSION NONCE …`. */
function toResponse(words: readonly string[], isDelta: boolean): object {
  const [version = '', nonce = '', ...more] = words;
  const configs = more.flatMap((word) => {
    const [, domain = '', limit] = /^(\w+)=(\d+)$/.exec(word) ?? [];
    if (limit !== undefined) return [userLimit(domain, Number(limit))];
    return { bad: [BAD], twice: [TWICE] }[word] ?? [];
  });
  const removed = more.filter((word) => word.startsWith('-')).map((word) => word.slice(1));
  const [type] = more.flatMap((word) => /^type=(.*)$/.exec(word)?.[1] ?? []);
  return {
    ...(isDelta
      ? deltaResponse(nonce, version, configs, removed)
      : response(version, nonce, configs)),
    ...(type !== undefined && { typeUrl: type }),
    ...(more.includes('empty') && {
      resources: [{ name: 'shop.rules', version: 'v1' }, { name: 'unknown' }],
    }),
  };
}

/** The lines of a case, with what came in place of what is expected. */
async function play(lines: readonly string[], options: Partial<XdsSourceOptions>) {
  const server = await serve();
  const follower = follow({ ...options, target: server.target });
  const at = { stream: 0, request: 0, load: 0 };
  const stream = () => server.opened(at.stream);
  const steps: Readonly<Record<string, (words: readonly string[]) => Promise<string | undefined>>> =
    {
      async open() {
        at.request = 0;
        at.stream += 1;
        await stream();
        return undefined;
      },
      asked: async () => requestLine(await (await stream()).requested((at.request += 1))),
      async send(words) {
        (await stream()).send(toResponse(words, options.protocol === 'delta'));
        return undefined;
      },
      async fail() {
        (await stream()).fail(14, 'going down');
        return undefined;
      },
      async end() {
        (await stream()).end();
        return undefined;
      },
      loaded: async () => `loaded ${toOneLine(await follower.loaded((at.load += 1))) || 'nothing'}`,
      warned: () => Promise.resolve(`warned ${follower.warnings.join().replace(/^.*?: /, '')}`),
      requests: async () => `requests ${String((await stream()).requests.length)}`,
    };
  const played: string[] = [];
  for (const line of lines) {
    const [word = '', ...words] = line.split(' ');
    played.push((await steps[word]?.(words)) ?? line);
  }
  return played;
}

const CASES = readTable(readFileSync(join(__dirname, 'xds.txt'), 'utf8'));

it.each(CASES)('$options.protocol: $title', async ({ options, expected }) => {
  expect(await play(expected, options)).toEqual(expected);
});
