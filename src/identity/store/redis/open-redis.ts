import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from '../../../platform/logger/logger';
import { serverNameOf } from '../../../platform/server-name';

interface Place {
  readonly host: string;
  readonly port: number;
}

interface Auth {
  readonly username: string | undefined;
  readonly password: string;
}

export interface RedisStoreOptions {
  readonly address:
    | ({ readonly kind: 'tcp' } & Place)
    | { readonly kind: 'unix'; readonly path: string }
    | {
        readonly kind: 'sentinel';
        readonly masterName: string;
        readonly sentinels: readonly Place[];
      }
    | { readonly kind: 'cluster'; readonly nodes: readonly Place[] };
  readonly auth: Auth | undefined;
  readonly sentinelAuth: Auth | undefined;
  /** For the servers and for the sentinels. */
  readonly tls:
    | {
        readonly caFile: string | undefined;
        readonly certFile: string | undefined;
        readonly keyFile: string | undefined;
        readonly skipHostnameVerification: boolean;
      }
    | undefined;
  /** Longest time for one command. */
  readonly timeoutMs: number;
}

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;
/** A cluster may send a command elsewhere so often before it has to fail within its time. */
const MOST_REDIRECTIONS = 4;
const REFRESH_SLOTS_MS = 5_000;

/** The commands that the store needs, each of one key. A cluster has them all. */
export type StoreClient = Redis;

/**
 * A connection that comes back by itself. A command is sent once: without a connection, or when it
 * breaks, the command fails at once.
 */
export function openRedis(options: RedisStoreOptions, logger: Logger): StoreClient {
  const { address } = options;
  const redis = connectTo(options);
  logConnection(redis, nameOf(address), logger);
  return redis;
}

function connectTo(options: RedisStoreOptions): StoreClient {
  const { address, sentinelAuth, timeoutMs } = options;
  const tls = options.tls === undefined ? undefined : readTls(options.tls);
  const common = toCommon(options, tls);
  switch (address.kind) {
    case 'tcp':
      return new Redis({ ...common, ...toNode(address, tls) });
    case 'unix':
      return new Redis({ ...common, path: address.path });
    case 'sentinel':
      return new Redis({
        ...common,
        name: address.masterName,
        sentinels: address.sentinels.map(({ host, port }) => ({ host, port })),
        natMap: (key) => {
          const { host, port } = parsePlace(key);
          return { host, port, ...serverNameOf(host) };
        },
        sentinelRetryStrategy: retryAfterMs,
        sentinelCommandTimeout: timeoutMs,
        ...(sentinelAuth === undefined ? {} : { sentinelPassword: sentinelAuth.password }),
        ...(sentinelAuth?.username === undefined
          ? {}
          : { sentinelUsername: sentinelAuth.username }),
        ...(tls === undefined
          ? {}
          : {
              sentinelTLS: { ...tls, ...nameOfAll(address.sentinels) },
              enableTLSForSentinelMode: true,
            }),
      });
    case 'cluster':
      // It has the commands of a single server; only the type is another one.
      return new Cluster(
        address.nodes.map((node) => toNode(node, tls)),
        {
          redisOptions: common,
          natMap: (key) => toNode(parsePlace(key), tls),
          lazyConnect: true,
          enableOfflineQueue: false,
          clusterRetryStrategy: retryAfterMs,
          slotsRefreshTimeout: timeoutMs,
          slotsRefreshInterval: REFRESH_SLOTS_MS,
          maxRedirections: MOST_REDIRECTIONS,
          retryDelayOnFailover: FIRST_RETRY_MS,
          retryDelayOnClusterDown: FIRST_RETRY_MS,
        },
      ) as unknown as StoreClient;
  }
}

function retryAfterMs(attempt: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10), LONGEST_RETRY_MS);
}

function toCommon({ auth, timeoutMs }: RedisStoreOptions, tls: ConnectionOptions | undefined) {
  return {
    ...(auth === undefined ? {} : { password: auth.password }),
    ...(auth?.username === undefined ? {} : { username: auth.username }),
    ...(tls === undefined ? {} : { tls }),
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    protocol: 2,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    retryStrategy: retryAfterMs,
    // A master that is one no more, after a failover: ask who is.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  } satisfies RedisOptions;
}

/** A server and how it is connected to: with its own name. */
function toNode({ host, port }: Place, tls: ConnectionOptions | undefined) {
  return { host, port, ...(tls === undefined ? {} : { tls: { ...tls, ...serverNameOf(host) } }) };
}

/** The client connects to all sentinels with the same options: only a host that is that of all can be named. */
function nameOfAll(sentinels: readonly Place[]) {
  const [host, ...others] = new Set(sentinels.map((sentinel) => sentinel.host));
  return host === undefined || others.length > 0 ? {} : serverNameOf(host);
}

/** What the client writes as `host:port`. */
function parsePlace(key: string): Place {
  const colon = key.lastIndexOf(':');
  return { host: key.slice(0, colon), port: Number(key.slice(colon + 1)) };
}

function nameOf(address: RedisStoreOptions['address']): string {
  const toText = ({ host, port }: Place): string => `${host}:${String(port)}`;
  switch (address.kind) {
    case 'tcp':
      return toText(address);
    case 'unix':
      return address.path;
    case 'sentinel':
      return `${address.masterName},${address.sentinels.map(toText).join(',')}`;
    case 'cluster':
      return address.nodes.map(toText).join(',');
  }
}

/** One line when it goes and one when it is back, however often connecting fails meanwhile. */
function logConnection(redis: StoreClient, store: string, logger: Logger): void {
  let lastReason = '';
  let isAway = false;
  redis.on('error', (error: Error) => {
    lastReason = error.message;
  });
  redis.on('close', () => {
    if (!isAway) logger.warn(`the identity store at ${store} is away`, { reason: lastReason });
    isAway = true;
  });
  redis.on('ready', () => {
    logger.info(`connected to the identity store at ${store}`);
    isAway = false;
  });
}

function readTls(tls: NonNullable<RedisStoreOptions['tls']>): ConnectionOptions {
  const pem = (name: 'ca' | 'cert' | 'key', file: string | undefined) =>
    file === undefined ? {} : { [name]: readFileSync(file) };
  return {
    ...pem('ca', tls.caFile),
    ...pem('cert', tls.certFile),
    ...pem('key', tls.keyFile),
    ...(tls.skipHostnameVerification ? { checkServerIdentity: () => undefined } : {}),
  };
}
