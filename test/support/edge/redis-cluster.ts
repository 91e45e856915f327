import { type Redis } from 'ioredis';
import { eventually } from './eventually';
import { freePorts } from '../free-port';
import { startRedisServer, type RedisServer, type RedisServerOptions } from './redis-server';

/** A cluster of real servers on loopback. */
export interface RedisCluster {
  readonly masters: readonly RedisServer[];
  readonly replicas: readonly RedisServer[];
  /** What `createRedisCounters` takes. */
  readonly address: {
    readonly kind: 'cluster';
    readonly nodes: readonly { readonly host: string; readonly port: number }[];
  };
  /** The server that owns the slot of a key, as the first server that lives sees it. */
  ownerOf(key: string): Promise<RedisServer>;
  /** Moves the slot of a key, with its keys, in two steps: `finish` ends what this begins. */
  beginMoving(key: string, to: RedisServer): Promise<SlotMove>;
  stop(): Promise<void>;
}

export interface SlotMove {
  readonly slot: number;
  readonly from: RedisServer;
  /** Moves the keys that there are now. */
  moveKeys(): Promise<void>;
  /** Tells all masters: one that learns it from the others goes on naming the old owner for a while. */
  finish(): Promise<void>;
}

export interface RedisClusterOptions extends Pick<RedisServerOptions, 'tls' | 'settings'> {
  /** Each master has a replica. */
  readonly hasReplicas?: boolean;
  /** How long a node is silent until the others give it up. Default: so long that a busy machine is no failure. */
  readonly nodeTimeoutMs?: number;
  readonly client?: Parameters<typeof startRedisServer>[1];
}

const MASTERS = 3;
const SLOTS = 16_384;
/** Of nodes that get to know each other: they ask each other twice in this time. */
const JOINING_TIMEOUT_MS = 800;

export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { settings = [], tls, hasReplicas = false, nodeTimeoutMs = 30_000, client } = options;
  const size = hasReplicas ? MASTERS * 2 : MASTERS;
  const ports = await freePorts(size * 2);
  const startNode = async (_: unknown, at: number): Promise<RedisServer> =>
    startRedisServer(
      {
        port: ports[at] as number,
        settings: [
          ['cluster-enabled', 'yes'],
          ['cluster-port', String(ports[size + at])],
          ['cluster-node-timeout', String(JOINING_TIMEOUT_MS)],
          ['cluster-replica-validity-factor', '0'],
          ...(tls === undefined
            ? []
            : [['tls-cluster', 'yes'] as const, ['tls-replication', 'yes'] as const]),
          ...settings,
        ],
        ...(tls === undefined ? {} : { tls }),
      },
      client,
    );
  const nodes = await Promise.all(Array.from({ length: size }, startNode));
  const masters = nodes.slice(0, MASTERS);
  const replicas = nodes.slice(MASTERS);
  await join(masters, nodes);
  await Promise.all(replicas.map((replica, at) => follow(replica, masters[at] as RedisServer)));
  for (const { client: each } of nodes)
    await each.config('SET', 'cluster-node-timeout', String(nodeTimeoutMs));

  const living = (): Redis => {
    const node = nodes.find(({ client: each }) => each.status === 'ready');
    if (node === undefined) throw new Error('no node lives');
    return node.client;
  };
  const serverAt = (port: number): RedisServer => {
    const found = nodes.find((node) => node.port === port);
    if (found === undefined) throw new Error(`no server on port ${String(port)}`);
    return found;
  };
  const ownerOf = async (key: string): Promise<RedisServer> => {
    const asked = living();
    const slot = await asked.cluster('KEYSLOT', key);
    const rows = (await asked.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
    const row = rows.find(([first, last]) => first <= slot && slot <= last);
    return serverAt(row?.[2][1] ?? 0);
  };

  return {
    masters,
    replicas,
    address: {
      kind: 'cluster',
      nodes: nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
    },
    ownerOf,
    async beginMoving(key, to) {
      const from = await ownerOf(key);
      const slot = await from.client.cluster('KEYSLOT', key);
      const [fromId, toId] = await Promise.all([from, to].map(({ client: each }) => idOf(each)));
      await to.client.call('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', String(fromId));
      await from.client.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', String(toId));
      return {
        slot,
        from,
        async moveKeys() {
          const keys = (await from.client.call(
            'CLUSTER',
            'GETKEYSINSLOT',
            String(slot),
            '1000',
          )) as string[];
          if (keys.length === 0) return;
          const target = ['127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...keys];
          await from.client.call('MIGRATE', ...target);
        },
        async finish() {
          const others = masters.filter((master) => master !== to && master !== from);
          for (const { client: each } of [to, from, ...others])
            await each.call('CLUSTER', 'SETSLOT', String(slot), 'NODE', String(toId));
        },
      };
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function idOf(client: Redis): Promise<string> {
  return String(await client.call('CLUSTER', 'MYID'));
}

async function join(masters: readonly RedisServer[], nodes: readonly RedisServer[]): Promise<void> {
  const [first, ...others] = nodes as [RedisServer, ...RedisServer[]];
  const busPort = async ({ client }: RedisServer): Promise<string> => {
    const [, port = ''] = await client.config('GET', 'cluster-port');
    return port;
  };
  await Promise.all(
    masters.map(({ client }, at) => {
      const from = Math.floor((SLOTS * at) / MASTERS);
      const to = Math.floor((SLOTS * (at + 1)) / MASTERS) - 1;
      return client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
    }),
  );
  // Different epochs from the beginning, so that nobody has to settle a collision.
  await Promise.all(
    nodes.map(({ client }, at) => client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1))),
  );
  const at = await busPort(first);
  for (const { client } of others)
    await client.call('CLUSTER', 'MEET', '127.0.0.1', String(first.port), at);
  await eventually(
    async () => {
      for (const { client } of nodes) {
        const info = await client.cluster('INFO');
        const isWhole =
          info.includes('cluster_state:ok') &&
          info.includes(`cluster_known_nodes:${String(nodes.length)}`) &&
          info.includes(`cluster_size:${String(MASTERS)}`);
        if (!isWhole) throw new Error(info);
      }
    },
    { withinMs: 15_000 },
  );
}

async function follow({ client }: RedisServer, master: RedisServer): Promise<void> {
  const id = await idOf(master.client);
  await eventually(() => client.call('CLUSTER', 'REPLICATE', id));
  await eventually(
    async () => {
      const info = await client.info('replication');
      if (!info.includes('master_link_status:up')) throw new Error(info);
    },
    { withinMs: 15_000 },
  );
}
