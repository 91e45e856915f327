import { eventually } from '../../support/edge/eventually';
import {
  backIn,
  HUNG,
  itSees,
  keyOf,
  patienceFor,
  startDrill,
  startLoad,
  untilHealthy,
  type Drill,
  type Fault,
} from '../../support/edge/fault-drill';
import { startRedisCluster, type RedisCluster } from '../../support/edge/redis-cluster';
import type { RedisServer } from '../../support/edge/redis-server';

jest.setTimeout(60_000);

/** Two services and one cluster for all, which has a node less after each of the later ones. */
let cluster: RedisCluster;
let ofHung: Drill;
let ofOthers: Drill;
const drillOf = ({ sees }: Pick<Fault, 'sees'>): Drill => (sees === HUNG ? ofHung : ofOthers);

const start = (fault: Pick<Fault, 'sees'>): Promise<Drill> =>
  startDrill({
    KVSTORE_TYPE: 'cluster',
    KVSTORE_URL: cluster.address.nodes.map(({ host, port }) => `${host}:${String(port)}`).join(','),
    KVSTORE_PIPELINE_WINDOW: '150us',
    ...patienceFor(fault),
  });
beforeAll(async () => {
  cluster = await startRedisCluster({
    hasReplicas: true,
    nodeTimeoutMs: 2_000,
    settings: [['cluster-require-full-coverage', 'no']],
  });
  [ofHung, ofOthers] = await Promise.all([start({ sees: HUNG }), start({ sees: [] })]);
});
afterAll(async () => {
  await Promise.all([ofHung.stop(), ofOthers.stop()]);
  await cluster.stop();
});

let serial = 0;
/** A caller whose counter lies on this node. */
async function callerOn(server: RedisServer): Promise<string> {
  for (;;) {
    serial += 1;
    const value = `caller${String(serial)}`;
    if ((await cluster.ownerOf(keyOf(value))) === server) return value;
  }
}

const countOf = async ({ client }: RedisServer, value: string) =>
  Number(await client.get(keyOf(value)));

/** The service is connected when one node is, and opens the other connections meanwhile. */
async function untilUsed(drill: Drill, ...servers: readonly RedisServer[]): Promise<void> {
  for (const server of servers) {
    const value = await callerOn(server);
    await eventually(async () => {
      expect(await drill.ask('user', value)).toMatchObject({ code: 0 });
    });
  }
}

/** Calls on this node and on another one, which shall notice nothing. */
async function startLoads(drill: Drill, server: RedisServer, other: RedisServer) {
  const [value, safeValue] = [await callerOn(server), await callerOn(other)];
  await untilUsed(drill, server, other);
  const [load, safe] = [startLoad(drill, value), startLoad(drill, safeValue)];
  await Promise.all([load.untilAnswered(20), safe.untilAnswered(20)]);
  return { load, safe, value, safeValue };
}

async function untilItIs(role: 'master' | 'slave', { client }: RedisServer): Promise<number> {
  await eventually(
    async () => {
      expect(((await client.call('ROLE')) as string[])[0]).toBe(role);
    },
    { withinMs: 20_000 },
  );
  return performance.now();
}

interface Takeover extends Fault {
  readonly at: number;
  readonly mount: (master: RedisServer) => unknown;
  readonly unmount?: (master: RedisServer) => Promise<unknown>;
}

const TAKEOVERS: readonly Takeover[] = [
  {
    at: 0,
    fault: 'a node is stopped (SIGSTOP), its replica takes over',
    sees: HUNG,
    counts: 'replicated',
    also: 'for its counters alone',
    mount: (master) => {
      master.pause();
    },
    unmount: (master) => {
      master.resume();
      return untilItIs('slave', master);
    },
  },
  {
    at: 1,
    fault: 'a node is killed (SIGKILL), its replica takes over',
    sees: ['UNAVAILABLE'],
    counts: 'replicated',
    also: 'for its counters alone',
    mount: (master) => master.kill(),
  },
];

describe('Redis, cluster', () => {
  const moving = { fault: 'a slot moves to another node', sees: [], counts: 'exact' } as const;
  itSees(moving, async () => {
    const drill = drillOf(moving);
    const [from, to] = cluster.masters as [RedisServer, RedisServer];
    const value = await callerOn(from);
    await untilUsed(drill, from, to);
    const load = startLoad(drill, value);
    await load.untilAnswered(20);
    const move = await cluster.beginMoving(keyOf(value), to);
    await load.untilAnswered(20);
    await move.moveKeys();
    await load.untilAnswered(20);
    await move.finish();
    await load.untilAnswered(20);
    await load.stop();
    load.expectSeen(moving.sees);
    load.expectCounted(await countOf(to, value), moving.counts);
  });

  const down = {
    fault: 'a node sees the cluster down (CLUSTERDOWN)',
    sees: ['UNAVAILABLE'],
    counts: 'exact',
    also: 'for its counters alone',
  } as const;
  itSees(down, async () => {
    const drill = drillOf(down);
    const [node, other] = cluster.masters as [RedisServer, RedisServer];
    const { load, safe, value } = await startLoads(drill, node, other);
    await node.client.config('SET', 'cluster-require-full-coverage', 'yes');
    await node.client.call('CLUSTER', 'DELSLOTS', '0');
    await load.untilSeen(down.sees, /CLUSTERDOWN/);
    await node.client.call('CLUSTER', 'ADDSLOTS', '0');
    await node.client.config('SET', 'cluster-require-full-coverage', 'no');
    await load.untilAnswered(20, backIn(drill));
    await Promise.all([load.stop(), safe.stop()]);
    load.expectSeen(down.sees);
    safe.expectSeen([]);
    load.expectCounted(await countOf(node, value), down.counts);
  });

  TAKEOVERS.forEach((each) => {
    itSees(each, async () => {
      const drill = drillOf(each);
      const master = cluster.masters[each.at] as RedisServer;
      const replica = cluster.replicas[each.at] as RedisServer;
      const other = cluster.masters[2] as RedisServer;
      const { load, safe, value, safeValue } = await startLoads(drill, master, other);
      await each.mount(master);
      const promotedMs = await untilItIs('master', replica);
      await eventually(() => {
        expect(load.lastAnswerMs).toBeGreaterThan(promotedMs);
      }, backIn(drill));
      await Promise.all([load.stop(), safe.stop()]);
      await load.untilSeen(each.sees);
      load.expectSeen(each.sees);
      safe.expectSeen([]);
      await untilHealthy(drill);
      load.expectCounted(await countOf(replica, value), each.counts);
      safe.expectCounted(await countOf(other, safeValue), 'exact');
      await each.unmount?.(master);
    });
  });

  const lost = {
    fault: 'a node is lost, with nobody to take over',
    sees: ['UNAVAILABLE'],
    counts: 'lost',
    also: 'for its counters alone',
  } as const;
  itSees(lost, async () => {
    const drill = drillOf(lost);
    const [gone, other] = [cluster.replicas[1], cluster.masters[2]] as [RedisServer, RedisServer];
    const { load, safe, safeValue } = await startLoads(drill, gone, other);
    await gone.kill();
    await load.untilSeen(lost.sees);
    await safe.untilAnswered(200);
    await Promise.all([load.stop(), safe.stop()]);
    load.expectSeen(lost.sees);
    safe.expectSeen([]);
    await untilHealthy(drill);
    safe.expectCounted(await countOf(other, safeValue), 'exact');
  });
});
