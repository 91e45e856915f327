import { startControlPlane, type ControlPlane } from '../support/edge/control-plane';
import { freePort } from '../support/free-port';
import { followServer, type XdsFollower } from '../support/edge/xds-follower';
import { TYPE_URL } from '../support/xds-messages';
import { PROGRAMS } from '../support/edge/programs';

const program = PROGRAMS.controlPlane();
let planes: ControlPlane[] = [];
let follower: XdsFollower | undefined;

async function start(set: Readonly<Record<string, object>>, port?: number): Promise<ControlPlane> {
  const plane = await startControlPlane(program ?? '', set, port);
  planes.push(plane);
  return plane;
}

jest.setTimeout(30_000);

afterEach(async () => {
  follower?.stop();
  await Promise.all(planes.map((plane) => plane.stop()));
  planes = [];
});

const user = (domain: string, requestsPerUnit: number) => ({
  domain,
  descriptors: [{ key: 'user', rateLimit: { unit: 'HOUR', requestsPerUnit } }],
});
const BAD = { domain: 'shop', descriptors: [{ value: 'x' }] };

(program === undefined ? describe.skip : describe)('a real control plane', () => {
  // In this protocol its LinearCache sends only the resources that changed, and never an empty set. So there
  // is one resource here, or all change together.
  it('serves rules by state of the world', async () => {
    const plane = await start({ shop: user('shop', 5), web: user('web', 7) });
    follower = followServer({ target: plane.target });
    expect(await follower.loaded(1)).toBe('shop=5 web=7');
    const nodeMetadata = { zone: 'a' };
    const hello = { protocol: 'sotw', typeUrl: TYPE_URL, nodeId: 'node-1', nodeMetadata };
    expect(plane.requests[0]).toEqual({ ...hello, stream: 1 });
    const ack = await plane.requested(2);
    expect(ack).toMatchObject({ ...hello, stream: 1, nonce: '1' });
    expect(ack.error).toBeUndefined();

    plane.change({ set: { shop: BAD, web: user('web', 8) } });
    const nack = await plane.requested(3);
    expect(nack).toMatchObject({ version: ack.version, nonce: '2', errorCode: 3 });
    expect(nack.error).toMatch(/^shop: descriptors\[0\]: a descriptor has no key/);

    plane.change({ set: { shop: user('shop', 6), web: user('web', 9) } });
    expect(await follower.loaded(3)).toBe('shop=6 web=9');
    const mended = await plane.requested(4);
    expect(mended).toMatchObject({ nonce: '3' });
    expect(mended.version).not.toBe(ack.version);
    expect(plane.requests).toHaveLength(4);
  });

  it('serves rules by delta', async () => {
    const plane = await start({ shop: user('shop', 5), web: user('web', 7) });
    follower = followServer({ target: plane.target, protocol: 'delta' });
    expect(await follower.loaded(1)).toBe('shop=5 web=7');
    expect(plane.requests[0]).toMatchObject({ protocol: 'delta', typeUrl: TYPE_URL });
    plane.change({ set: { shop: user('shop', 6) } });
    expect(await follower.loaded(2)).toBe('shop=6 web=7');
    plane.change({ remove: ['web'] });
    expect(await follower.loaded(3)).toBe('shop=6');
    // A good resource beside a bad one counts as soon as the bad one is mended.
    plane.change({ set: { shop: BAD, mail: user('mail', 1) } });
    expect(await plane.requested(5)).toMatchObject({ errorCode: 3 });
    plane.change({ set: { shop: user('shop', 8) } });
    expect(await follower.loaded(5)).toBe('mail=1 shop=8');
    plane.change({ remove: ['mail', 'shop'] });
    expect(await follower.loaded(6)).toBe('');
    await plane.requested(7);
    expect(plane.requests.filter(({ error }) => error !== undefined)).toHaveLength(1);
  });

  it('restarts with other rules: state of the world', async () => {
    const plane = await start({ shop: user('shop', 5) }, await freePort());
    follower = followServer({ target: plane.target });
    await follower.loaded(1);
    const { version } = await plane.requested(2);
    await plane.stop();
    const restarted = await start({ shop: user('shop', 6) }, portOf(plane));
    const hello = await restarted.requested(1);
    expect(hello.version).toBe(version);
    expect(hello.nonce).toBeUndefined();
    expect(await follower.loaded(2)).toBe('shop=6');
  });

  it('restarts with other rules: delta', async () => {
    const rules = { shop: user('shop', 5), web: user('web', 7), mail: user('mail', 1) };
    const plane = await start(rules, await freePort());
    follower = followServer({ target: plane.target, protocol: 'delta' });
    await follower.loaded(1);
    await plane.requested(2);
    await plane.stop();
    const restarted = await start({ shop: user('shop', 6), web: user('web', 7) }, portOf(plane));
    const hello = await restarted.requested(1);
    expect(hello.nonce).toBeUndefined();
    expect(Object.keys(hello.initialVersions ?? {}).sort()).toEqual(['mail', 'shop', 'web']);
    expect(await follower.loaded(2)).toBe('shop=6 web=7');
  });
});

/** The port in `127.0.0.1:4711`. */
function portOf({ target }: ControlPlane): number {
  return Number(target.split(':')[1]);
}
