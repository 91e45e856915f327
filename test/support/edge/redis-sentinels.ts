import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { eventually } from './eventually';
import { freePorts } from '../free-port';
import {
  REDIS_SERVER,
  startRedisServer,
  type RedisServer,
  type RedisServerOptions,
} from './redis-server';

/** A sentinel process that a test has started. */
export interface RedisSentinel {
  readonly port: number;
  readonly client: Redis;
  stop(): Promise<void>;
}

/** A master, its replica and their sentinels. */
export interface SentinelSetup {
  readonly servers: readonly [RedisServer, RedisServer];
  readonly sentinels: readonly RedisSentinel[];
  /** What `createRedisCounters` takes. */
  readonly address: {
    readonly kind: 'sentinel';
    readonly masterName: string;
    readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  };
  /** The port of the master that the sentinels name. */
  masterPort(): Promise<number>;
  /** Orders a failover and waits until another server is the master; answers it. */
  failOver(): Promise<RedisServer>;
  /** Waits until the other server has been promoted; answers when that was seen, in `performance.now()`. */
  untilPromoted(server: RedisServer): Promise<number>;
  stop(): Promise<void>;
}

export interface SentinelSetupOptions {
  /** Password of the servers. */
  readonly password?: string;
  /** Password of the sentinels. */
  readonly sentinelPassword?: string;
  /** Certificates of the servers, which then speak TLS only. */
  readonly tls?: RedisServerOptions['tls'];
  readonly tlsClient?: RedisOptions['tls'];
  /** The sentinels speak TLS too, with the same certificates. */
  readonly areSentinelsTls?: boolean;
  /** How long the master is silent until it is given up. Default: so long that a busy machine is no failure. */
  readonly downAfterMs?: number;
}

const MASTER_NAME = 'limits';
const SENTINELS = 3;
/** Of sentinels that get to know each other: they ask each other once in this time. */
const JOINING_DOWN_AFTER_MS = 400;

export async function startSentinels(options: SentinelSetupOptions = {}): Promise<SentinelSetup> {
  const { password, tls, tlsClient, downAfterMs = 30_000 } = options;
  const client = {
    ...(password === undefined ? {} : { password }),
    ...(tlsClient === undefined ? {} : { tls: tlsClient }),
  };
  const settings = [
    ...(password === undefined
      ? []
      : [
          ['requirepass', password],
          ['masterauth', password],
        ]),
    ...(tls === undefined ? [] : [['tls-replication', 'yes']]),
    ['repl-diskless-sync-delay', '0'],
  ];
  const start = () => startRedisServer({ settings, ...(tls === undefined ? {} : { tls }) }, client);
  const servers = await Promise.all([start(), start()]);
  const [master, replica] = servers;
  await replica.client.replicaof('127.0.0.1', master.port);
  await eventually(async () => {
    const info = await replica.client.info('replication');
    if (!info.includes('master_link_status:up')) throw new Error(info);
  });
  const ports = await freePorts(SENTINELS);
  const sentinels = await Promise.all(
    ports.map((port) => startSentinel({ port, ports, servers }, options)),
  );
  await eventually(
    async () => {
      for (const { client: asked } of sentinels) {
        const fields = ((await asked.call('SENTINEL', 'MASTER', MASTER_NAME)) as unknown[]).map(
          String,
        );
        const read = (name: string) => fields[fields.indexOf(name) + 1];
        const others = String(SENTINELS - 1);
        if (read('num-other-sentinels') !== others || read('num-slaves') !== '1')
          throw new Error(fields.join(' '));
      }
    },
    { withinMs: 15_000 },
  );
  const patience = ['down-after-milliseconds', String(downAfterMs)] as const;
  for (const { client: each } of sentinels)
    await each.call('SENTINEL', 'SET', MASTER_NAME, ...patience);

  const masterPort = async (): Promise<number> => {
    const asked = sentinels.find(({ client: each }) => each.status === 'ready');
    const [, port] = (await asked?.client.call(
      'SENTINEL',
      'get-master-addr-by-name',
      MASTER_NAME,
    )) as [string, string];
    return Number(port);
  };
  const untilPromoted = async (server: RedisServer): Promise<number> => {
    await eventually(
      async () => {
        const [role] = (await server.client.call('ROLE')) as string[];
        if (role !== 'master') throw new Error(`still a ${String(role)}`);
      },
      { withinMs: 20_000 },
    );
    return performance.now();
  };
  return {
    servers,
    sentinels,
    address: {
      kind: 'sentinel',
      masterName: MASTER_NAME,
      sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
    },
    masterPort,
    untilPromoted,
    async failOver() {
      const before = await masterPort();
      const next = servers.find(({ port }) => port !== before) as RedisServer;
      await eventually(() => sentinels[0]?.client.call('SENTINEL', 'FAILOVER', MASTER_NAME), {
        withinMs: 15_000,
        everyMs: 100,
      });
      await untilPromoted(next);
      return next;
    },
    async stop() {
      await Promise.all([...sentinels, ...servers].map((each) => each.stop()));
    },
  };
}

/** One sentinel of several, which know each other and the servers from the beginning. */
interface Place {
  readonly port: number;
  readonly ports: readonly number[];
  readonly servers: readonly RedisServer[];
}

async function startSentinel(
  { port, ports, servers: [master, ...replicas] }: Place,
  options: SentinelSetupOptions,
): Promise<RedisSentinel> {
  const { sentinelPassword, tls, tlsClient, areSentinelsTls = false } = options;
  const directory = await mkdtemp(join(tmpdir(), 'weir-sentinel-'));
  const isTls = areSentinelsTls && tls !== undefined;
  const lines = [
    'bind 127.0.0.1',
    `dir ${directory}`,
    ...portLines(port, isTls),
    ...tlsLines(options),
    // Sentinels find each other through servers and speak to each other as they do to those.
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${String(master?.port)} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${String(JOINING_DOWN_AFTER_MS)}`,
    `sentinel failover-timeout ${MASTER_NAME} 3000`,
    ...passwordLines(options),
    `sentinel myid ${idOf(port)}`,
    ...replicas.map(
      (each) => `sentinel known-replica ${MASTER_NAME} 127.0.0.1 ${String(each.port)}`,
    ),
    ...ports
      .filter((each) => each !== port)
      .map(
        (each) => `sentinel known-sentinel ${MASTER_NAME} 127.0.0.1 ${String(each)} ${idOf(each)}`,
      ),
  ];
  const file = join(directory, 'sentinel.conf');
  await writeFile(file, lines.join('\n') + '\n');
  const child = spawn(REDIS_SERVER, [file, '--sentinel'], { stdio: 'ignore' });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
  });
  const client = new Redis({
    host: '127.0.0.1',
    port,
    protocol: 2,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => 20,
    ...(sentinelPassword === undefined ? {} : { password: sentinelPassword }),
    ...(isTls && tlsClient !== undefined ? { tls: tlsClient } : {}),
  });
  client.on('error', () => undefined);
  await eventually(async () => {
    if (client.status !== 'ready') await client.connect().catch(() => undefined);
    await client.ping();
  });
  return {
    port,
    client,
    async stop() {
      if (client.status !== 'end') client.disconnect();
      child.kill('SIGKILL');
      await gone;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function idOf(port: number): string {
  return String(port).padStart(40, '0');
}

function portLines(port: number, isTls: boolean): readonly string[] {
  return isTls ? ['port 0', `tls-port ${String(port)}`] : [`port ${String(port)}`];
}

function tlsLines({ tls }: SentinelSetupOptions): readonly string[] {
  if (tls === undefined) return [];
  return [
    `tls-ca-cert-file ${tls.caFile}`,
    `tls-cert-file ${tls.certFile}`,
    `tls-key-file ${tls.keyFile}`,
    'tls-replication yes',
  ];
}

function passwordLines({ password, sentinelPassword }: SentinelSetupOptions): readonly string[] {
  const ofServers = password === undefined ? [] : [`sentinel auth-pass ${MASTER_NAME} ${password}`];
  if (sentinelPassword === undefined) return ofServers;
  return [
    ...ofServers,
    `requirepass ${sentinelPassword}`,
    `sentinel sentinel-pass ${sentinelPassword}`,
  ];
}
