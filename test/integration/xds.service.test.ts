import { eventually } from '../support/edge/eventually';
import { ask, startService, stopServices } from '../support/edge/service';
import { startAdsServer, type AdsServer } from '../support/edge/xds-server';
import { deltaResponse, response, userLimit } from '../support/xds-messages';

jest.setTimeout(30_000);

let server: AdsServer;

afterEach(async () => {
  await stopServices();
  server.stop();
});

const METADATA = {
  fields: { zone: { stringValue: 'a' }, tier: { stringValue: 'b' } },
};

describe('the service with a management server', () => {
  it.each([
    ['GRPC_XDS_SOTW', response('v1', 'n1', [userLimit('shop', 5)])],
    ['GRPC_XDS_DELTA', deltaResponse('n1', 'v1', [userLimit('shop', 5)])],
  ])('decides by its rules: %s', async (type, rules) => {
    server = await startAdsServer();
    const service = await startService({
      waitUntilUp: false,
      env: {
        CONFIG_TYPE: type,
        CONFIG_GRPC_XDS_SERVER_URL: server.target,
        CONFIG_GRPC_XDS_NODE_ID: 'edge-1',
        CONFIG_GRPC_XDS_NODE_METADATA: 'zone=a,tier=b',
        CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: 'x-token:hush',
        BACKEND_TYPE: 'memory',
        LOG_LEVEL: 'debug',
      },
    });
    const stream = await server.opened(1);
    expect(await stream.requested(1)).toMatchObject({ node: { id: 'edge-1', metadata: METADATA } });
    expect(stream.headers.get('x-token')).toBe('hush');
    stream.send(rules);
    // It may listen before the rules are there; what it refuses then is not counted.
    const answer = await eventually(async () => {
      const asked = await ask(service, 'shop', 'user=ann');
      expect(asked.status).toBe(200);
      return asked;
    });
    expect(answer.body).toMatchObject({ statuses: [{ limitRemaining: 4 }] });
    expect(service.output()).toContain(`connected to the management server at ${server.target}`);
    expect(service.output()).toMatch(/level=info msg="loaded the rules" version=v1 /);
    expect(service.output()).not.toContain('hush');
    expect(await service.stop()).toBe(0);
  });

  it('says of each version once whether it was taken or refused', async () => {
    server = await startAdsServer();
    const service = await startService({
      waitUntilUp: false,
      env: {
        CONFIG_TYPE: 'GRPC_XDS_SOTW',
        CONFIG_GRPC_XDS_SERVER_URL: server.target,
        BACKEND_TYPE: 'memory',
        LOG_LEVEL: 'info',
      },
    });
    const stream = await server.opened(1);
    const bad = [{ ...userLimit('shop', 5), domain: '' }];
    const sent = [
      response('v1', 'n1', [userLimit('shop', 5)]),
      response('v2', 'n2', bad),
      response('v2', 'n3', bad),
      response('v3', 'n4', bad),
      response('v4', 'n5', [userLimit('shop', 6)]),
    ];
    for (const [index, one] of sent.entries()) {
      stream.send(one);
      await stream.requested(index + 2);
    }
    const said = /level=(\w+) msg="?(loaded the rules|rules not loaded)[^"]*"? version=(\w+)/g;
    await eventually(() => {
      const lines = [...service.output().matchAll(said)].map(([, ...parts]) => parts);
      expect(lines).toEqual([
        ['info', 'loaded the rules', 'v1'],
        ['error', 'rules not loaded', 'v2'],
        ['error', 'rules not loaded', 'v3'],
        ['info', 'loaded the rules', 'v4'],
      ]);
    });
  });

  it('starts without rules when it may, and takes them once they come', async () => {
    server = await startAdsServer();
    const service = await startService({
      env: {
        CONFIG_TYPE: 'GRPC_XDS_SOTW',
        CONFIG_GRPC_XDS_SERVER_URL: server.target,
        FORCE_START_WITHOUT_INITIAL_CONFIG: 'true',
        HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: 'true',
        BACKEND_TYPE: 'memory',
      },
    });
    const health = async () => (await fetch(`${service.http}/healthcheck`)).status;
    expect(await health()).toBe(500);
    const stream = await server.opened(1);
    stream.send(response('v1', 'n1', [userLimit('shop', 5)]));
    await stream.requested(2);
    expect(await health()).toBe(200);
    stream.send(response('v2', 'n2', []));
    await stream.requested(3);
    expect(await health()).toBe(500);
  });
});
