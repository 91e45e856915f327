import type { XdsSourceOptions } from '../../src/rule-sources/xds-source';
import { describeLoad } from '../support/followed-rules';
import { followServer, type XdsFollower } from '../support/edge/xds-follower';
import { startAdsServer, type AdsServer, type AdsServerOptions } from '../support/edge/xds-server';
import { deltaResponse, TYPE_URL, userLimit } from '../support/xds-messages';

let server: AdsServer;
let follower: XdsFollower | undefined;

async function start(
  options: Partial<XdsSourceOptions> = {},
  serverOptions: AdsServerOptions = {},
): Promise<XdsFollower> {
  server = await startAdsServer(serverOptions);
  follower = followServer({ target: server.target, protocol: 'delta', ...options });
  return follower;
}

jest.setTimeout(30_000);

afterEach(() => {
  follower?.stop();
  server.stop();
});

const BAD = { name: 'shop.rules', domain: 'shop', descriptors: [{ value: 'x' }] };
const node = { id: 'node-1', metadata: { fields: { zone: { stringValue: 'a' } } } };

describe('rules from a management server, delta', () => {
  it('subscribes to all, acknowledges updates and removals by their nonces', async () => {
    const { loaded } = await start();
    const stream = await server.opened(1);
    expect(await stream.requested(1)).toEqual({ typeUrl: TYPE_URL, node });
    stream.send(deltaResponse('n1', 'v1', [userLimit('shop', 5), userLimit('web', 7)]));
    expect(await loaded(1)).toBe('shop=5 web=7');
    expect(await stream.requested(2)).toEqual({ typeUrl: TYPE_URL, node, responseNonce: 'n1' });
    stream.send(deltaResponse('n2', 'v2', [userLimit('shop', 6)]));
    expect(await loaded(2)).toBe('shop=6 web=7');
    stream.send(deltaResponse('n3', 'v3', [], ['web.rules', 'unknown']));
    expect(await loaded(3)).toBe('shop=6');
    stream.send(deltaResponse('n4', 'v4', [], ['shop.rules']));
    expect(await loaded(4)).toBe('');
    expect(await stream.requested(5)).toMatchObject({ responseNonce: 'n4' });
  });

  it('says on a new stream which versions it has, not those that it refused', async () => {
    const { loaded } = await start();
    const first = await server.opened(1);
    first.send(deltaResponse('n1', 'v1', [userLimit('shop', 5), userLimit('web', 7)]));
    await first.requested(2);
    first.send(deltaResponse('n2', 'v2', [BAD]));
    await first.requested(3);
    first.fail(14, 'going down');
    const second = await server.opened(2);
    expect(await second.requested(1)).toEqual({
      typeUrl: TYPE_URL,
      node,
      initialResourceVersions: { 'shop.rules': 'v1', 'web.rules': 'v1' },
    });
    second.send(deltaResponse('n1', 'v3', [userLimit('shop', 6)], ['web.rules']));
    expect(await loaded(3)).toBe('shop=6');
  });

  it('refuses a bad response once; what follows counts without it', async () => {
    const { loaded } = await start();
    const stream = await server.opened(1);
    stream.send(deltaResponse('n1', 'v1', [userLimit('shop', 5)]));
    await stream.requested(2);
    stream.send(deltaResponse('n2', 'v2', [BAD, userLimit('mail', 1)]));
    expect(await stream.requested(3)).toMatchObject({
      responseNonce: 'n2',
      errorDetail: {
        code: 3,
        message: expect.stringMatching(
          /^shop\.rules: descriptors\[0\]: a descriptor has no key/,
        ) as string,
      },
    });
    stream.send(deltaResponse('n3', 'v3', [userLimit('web', 7)]));
    expect(await loaded(3)).toBe('shop=5 web=7');
    expect((await stream.requested(4)).errorDetail).toBeUndefined();
    // The good resource beside the bad one was not lost.
    stream.send(deltaResponse('n4', 'v4', [userLimit('shop', 8)]));
    expect(await loaded(4)).toBe('mail=1 shop=8 web=7');
    await stream.requested(5);
    expect(stream.requests).toHaveLength(5);
  });

  it('finds the bad one of several responses that came together', async () => {
    const { loads } = await start();
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

  it('keeps a resource that comes without content', async () => {
    const { loaded } = await start();
    const stream = await server.opened(1);
    stream.send(deltaResponse('n1', 'v1', [userLimit('shop', 5)]));
    await stream.requested(2);
    const resources = [{ name: 'shop.rules', version: 'v1' }, { name: 'unknown' }];
    stream.send({ ...deltaResponse('n2', 'v2', []), resources });
    expect(await loaded(2)).toBe('shop=5');
    await stream.requested(3);
  });

  it('refuses another type', async () => {
    await start();
    const stream = await server.opened(1);
    stream.send({ ...deltaResponse('n1', 'v1', [userLimit('shop', 5)]), typeUrl: 'other' });
    expect(await stream.requested(2)).toMatchObject({
      responseNonce: 'n1',
      errorDetail: {
        code: 3,
        message: expect.stringContaining('resources of type "other"') as string,
      },
    });
  });

  it('is not spun by a server that answers each NACK with the same resources at once', async () => {
    let sent = 0;
    const { loads } = await start(
      { backoff: { initialMs: 1_000, maxMs: 60_000, jitter: 0 } },
      {
        onRequest: (stream) => {
          sent += 1;
          stream.send(deltaResponse(`n${String(sent)}`, 'v1', [BAD]));
        },
      },
    );
    const startedAt = performance.now();
    await (await server.opened(1)).requested(5);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(470);
    expect(loads).toHaveLength(1);
  });
});
