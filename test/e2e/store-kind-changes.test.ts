import { eventually } from '../support/edge/eventually';
import {
  clusterNodeSettings,
  startRedisServer,
  type RedisServer,
} from '../support/edge/redis-server';
import { startSentinels } from '../support/edge/redis-sentinels';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

jest.setTimeout(60_000);

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopServices();
  await Promise.all(ends.splice(0).map((end) => end()));
});
function endsLater<T extends { stop(): Promise<unknown> }>(started: T): T {
  ends.push(() => started.stop());
  return started;
}

const COUNTS = { REDIS_HEALTH_CHECK_ACTIVE_CONNECTION: 'true' };
/** Clusters need it. */
const WINDOW = { REDIS_PIPELINE_WINDOW: '150us' };
const ALONE = 'it is a single server, not a node of a cluster';
const NO_SENTINEL = 'it is not a sentinel';
const A_SENTINEL = 'it is a sentinel: set KVSTORE_TYPE=sentinel';

/** What is said of the store. */
const storeLine = async ({ http }: Service): Promise<string> => {
  const text = await (await fetch(`${http}/readyz?verbose`)).text();
  return /^store: .*$/m.exec(text)?.[0] ?? text;
};
const says = (service: Service, text: string) =>
  eventually(async () => {
    expect(await storeLine(service)).toContain(text);
  });

/** One node with all slots. */
async function startCluster(port?: number): Promise<RedisServer> {
  const server = endsLater(
    await startRedisServer({
      settings: await clusterNodeSettings(),
      ...(port !== undefined && { port }),
    }),
  );
  await server.client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await eventually(async () => {
    expect(await server.client.call('CLUSTER', 'INFO')).toContain('cluster_state:ok');
  });
  return server;
}

it('a cluster that has counted and is replaced by a single server is named so at /readyz?verbose, until it is one again', async () => {
  const cluster = await startCluster();
  const { port } = cluster;
  const url = `127.0.0.1:${String(port)}`;
  const service = await startService({ env: { REDIS_URL: url, REDIS_TYPE: 'cluster', ...WINDOW } });
  await eventually(async () => {
    expect((await ask(service, 'example', 'try=a')).status).toBe(200);
  });
  expect(await storeLine(service)).toBe('store: up');
  await cluster.kill();
  const single = endsLater(await startRedisServer({ port }));
  await says(service, ALONE);
  await single.kill();
  await startCluster(port);
  await eventually(async () => {
    expect(await storeLine(service)).toBe('store: up');
  });
});

it('sentinels that have named a master and are replaced by a single server are named so', async () => {
  const { sentinels } = endsLater(await startSentinels());
  const [sentinel] = sentinels;
  const port = sentinel?.port ?? 0;
  const env = { REDIS_URL: `limits,127.0.0.1:${String(port)}`, REDIS_TYPE: 'sentinel' };
  const service = await startService({ env });
  await eventually(async () => {
    expect((await ask(service, 'example', 'try=a')).status).toBe(200);
  });
  await sentinel?.stop();
  endsLater(await startRedisServer({ port }));
  await says(service, NO_SENTINEL);
});

describe('the reason at /readyz?verbose is that of the server that is there now', () => {
  it.each([
    ['cluster', [A_SENTINEL, ALONE]],
    ['single', [A_SENTINEL, undefined]],
  ])(
    'of a store of the type %s: a sentinel, then a single server, then one that wants a password',
    async (type, [ofSentinel = '', ofSingle]) => {
      const { sentinels } = endsLater(await startSentinels());
      const [sentinel] = sentinels;
      const port = sentinel?.port ?? 0;
      const service = await startService({
        env: { REDIS_URL: `127.0.0.1:${String(port)}`, REDIS_TYPE: type, ...COUNTS, ...WINDOW },
        waitUntilUp: 'answering',
      });
      await says(service, ofSentinel);
      await sentinel?.stop();
      if (ofSingle !== undefined) {
        const single = endsLater(await startRedisServer({ port }));
        await says(service, ofSingle);
        await single.kill();
      }
      endsLater(await startRedisServer({ port, settings: [['requirepass', 'p']] }));
      await eventually(async () => {
        expect(await storeLine(service)).toBe('store: down');
      });
    },
  );
});
