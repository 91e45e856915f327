import { createTestClient } from '../support/edge/grpc-client';
import { eventually } from '../support/edge/eventually';
import { startRedisCluster } from '../support/edge/redis-cluster';
import { startSentinels } from '../support/edge/redis-sentinels';
import {
  clusterNodeSettings,
  startRedisServer,
  type RedisServer,
} from '../support/edge/redis-server';
import { startService, stopServices, type Service } from '../support/edge/service';

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

const start = (port: number, env: Readonly<Record<string, string>> = {}) =>
  startService({
    env: { REDIS_URL: `127.0.0.1:${String(port)}`, ...env },
    waitUntilUp: 'answering',
  });

async function readyz({ http }: Service) {
  const answer = await fetch(`${http}/readyz?verbose`);
  return { status: answer.status, text: await answer.text() };
}

const linesWith = (service: Service, text: string) =>
  service
    .output()
    .split('\n')
    .filter((line) => line.includes(text));

/** The troubles that the page is sent first. */
async function troublesOf({ debug }: Service): Promise<string> {
  const { body } = await fetch(`${debug}/ui/events`);
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    const found = /^event: figures\ndata: (.*)\n/m.exec(text)?.[1];
    if (found !== undefined)
      return JSON.stringify((JSON.parse(found) as { troubles: unknown }).troubles);
  }
  throw new Error(`no figures: ${text}`);
}

const CLUSTER = 'it is one node of a cluster: set KVSTORE_TYPE=cluster (REDIS_TYPE=cluster)';

const ALONE =
  'it is a single server, not a node of a cluster: set KVSTORE_TYPE=single (REDIS_TYPE=single)';
const NO_SENTINEL =
  "it is not a sentinel: name the sentinels, or set KVSTORE_TYPE=single (REDIS_TYPE=single) and leave the master's name out";

async function ofCluster(): Promise<RedisServer> {
  const { masters } = endsLater(await startRedisCluster());
  return masters[1] as RedisServer;
}
async function ofSentinels(): Promise<{ readonly port: number }> {
  const { sentinels } = endsLater(await startSentinels());
  return sentinels[0] as { readonly port: number };
}
async function ofReplica(): Promise<RedisServer> {
  const { servers } = endsLater(await startSentinels());
  return servers[1];
}

async function ofClusterWithoutSlots(): Promise<RedisServer> {
  return endsLater(await startRedisServer({ settings: await clusterNodeSettings() }));
}

describe('an instance whose store is not what the settings say', () => {
  it.each([
    ['a node of a cluster', ofCluster, CLUSTER],
    [
      'a sentinel',
      ofSentinels,
      "it is a sentinel: set KVSTORE_TYPE=sentinel (REDIS_TYPE=sentinel) and put the master's name first",
    ],
    [
      'a replica',
      ofReplica,
      'it is a replica: name its master, or its sentinels with KVSTORE_TYPE=sentinel (REDIS_TYPE=sentinel)',
    ],
    ['a node of a cluster that is down', ofClusterWithoutSlots, CLUSTER],
  ])(
    '(%s) is not ready, and says at /readyz?verbose, on the page and once in the log what mends it',
    async (_, startOne, advice) => {
      const { port } = await startOne();
      const service = await start(port, { REDIS_HEALTH_CHECK_ACTIVE_CONNECTION: 'true' });
      await eventually(async () => {
        expect(await readyz(service)).toMatchObject({
          status: 500,
          text: expect.stringContaining(`store: down (${advice})\n`) as string,
        });
      });
      expect(await troublesOf(service)).toContain(advice);
      // Tried again and again, it is told once.
      await eventually(async () => {
        const rows = await readyz(service);
        expect(rows.text).toContain(advice);
        expect(linesWith(service, advice)).toHaveLength(1);
      });
    },
  );

  it.each([
    ['KVSTORE_TYPE', 'cluster', (at: string) => at],
    ['REDIS_TYPE', 'CLUSTER', (at: string) => `${at},${at}`],
    ['KVSTORE_TYPE', 'sentinel', (at: string) => `mymaster,${at}`],
    ['REDIS_TYPE', 'SENTINEL', (at: string) => `mymaster,${at}`],
  ])(
    '(a single server, under %s=%s) is not ready, and says so in the same places',
    async (name, type, toUrl) => {
      const server = endsLater(await startRedisServer());
      const at = `127.0.0.1:${String(server.port)}`;
      const service = await start(server.port, {
        [name]: type,
        REDIS_URL: toUrl(at),
        REDIS_PIPELINE_WINDOW: '150us',
        REDIS_HEALTH_CHECK_ACTIVE_CONNECTION: 'true',
      });
      const advice = /cluster/i.test(type) ? ALONE : NO_SENTINEL;
      await eventually(async () => {
        expect(await readyz(service)).toMatchObject({
          status: 500,
          text: expect.stringContaining(`store: down (${advice})\n`) as string,
        });
      });
      expect(await troublesOf(service)).toContain(advice);
      const lines = linesWith(service, advice);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/cluster support disabled|unknown command 'SENTINEL'"/);
    },
  );

  it('says so without the setting that lets connections count, too', async () => {
    const service = await start((await ofCluster()).port);
    await eventually(async () => {
      expect(await readyz(service)).toMatchObject({
        status: 500,
        text: expect.stringMatching(
          /^start: down\nstore: down \(does not count: .*; it is one node/,
        ) as string,
      });
    });
  });

  it('names the setting of the store for limits per second', async () => {
    const { port } = endsLater(await startRedisServer());
    const service = await start(port, {
      REDIS_PERSECOND: 'true',
      REDIS_PERSECOND_URL: `127.0.0.1:${String((await ofCluster()).port)}`,
    });
    await eventually(async () => {
      const { text } = await readyz(service);
      expect(text).toMatch(/^store: up$/m);
      expect(text).toMatch(/^per-second store: .*set KVSTORE_PERSECOND_TYPE=cluster/m);
    });
  });
});

it('an instance that has counted stays ready when its server becomes one node of several, which is red until it is alone again', async () => {
  const settings = await clusterNodeSettings();
  const [, [, busPort]] = settings;
  const [all, other] = [
    endsLater(await startRedisServer({ settings })),
    endsLater(await startRedisServer({ settings: await clusterNodeSettings() })),
  ];
  await all.client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await other.client.call('CLUSTER', 'MEET', '127.0.0.1', String(all.port), busPort);
  // Until then it serves no slot, as one of several.
  await eventually(async () => {
    expect(await all.client.call('CLUSTER', 'INFO')).toContain('cluster_state:ok');
  });
  const own = async (owner: RedisServer) => {
    const id = String(await owner.client.call('CLUSTER', 'MYID'));
    const most = Array.from({ length: 16_383 }, (_, slot) => slot);
    await Promise.all(
      most.map((slot) => all.client.call('CLUSTER', 'SETSLOT', String(slot), 'NODE', id)),
    );
  };
  const service = await start(all.port);
  await eventually(async () => {
    expect(await readyz(service)).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^store: up$/m) as string,
    });
  });
  expect(linesWith(service, 'REDIS_TYPE')).toEqual([]);
  await eventually(() => own(other));
  const client = createTestClient(service.grpc);
  await eventually(async () => {
    await client.ask({
      domain: 'example',
      descriptors: [{ entries: [{ key: 'try', value: 'curl' }] }],
    });
    expect(await readyz(service)).toMatchObject({
      status: 200,
      text: expect.stringContaining(`; ${CLUSTER})`) as string,
    });
    expect(await troublesOf(service)).toContain(CLUSTER);
  });
  expect(linesWith(service, CLUSTER).filter((line) => line.includes('kind of store'))).toHaveLength(
    1,
  );
  await own(all);
  await all.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await eventually(async () => {
    expect((await readyz(service)).text).toMatch(/^store: up$/m);
  });
  client.close();
});
