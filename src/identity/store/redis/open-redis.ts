import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { readCredentialsNow, type CredentialsSource } from '../../../platform/credentials-source';
import type { Credentials } from '../../../platform/env-table/credentials';
import type { Logger } from '../../../platform/logger/logger';
import { readTlsOptionsNow, type ClientTlsFiles } from '../../../platform/tls-files';
import { serverNameOf } from '../../../platform/server-name';
import { toReason } from '../../../platform/errors';

interface Place {
  readonly host: string;
  readonly port: number;
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
  readonly auth: CredentialsSource | undefined;
  readonly sentinelAuth: CredentialsSource | undefined;
  /** Selected on every connection; 0 when undefined. */
  readonly database?: number;
  /** For the servers and for the sentinels. */
  readonly tls: ClientTlsFiles | undefined;
  /** Longest time for one command. */
  readonly timeoutMs: number;
}

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;
/** A cluster may send a command elsewhere so often before it has to fail within its time. */
const MAX_REDIRECTIONS = 4;
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
  const fault = keepCredentials(redis, options);
  logConnection(redis, nameOf(address), logger, fault);
  return redis;
}

function connectTo(options: RedisStoreOptions): StoreClient {
  const { address, timeoutMs } = options;
  const tls = options.tls === undefined ? undefined : readTlsOptionsNow(options.tls);
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
        ...toSentinelAuth(options),
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
          maxRedirections: MAX_REDIRECTIONS,
          retryDelayOnFailover: FIRST_RETRY_MS,
          retryDelayOnClusterDown: FIRST_RETRY_MS,
        },
      ) as unknown as StoreClient;
  }
}

function toSentinelAuth({ sentinelAuth }: RedisStoreOptions) {
  if (sentinelAuth === undefined) return {};
  const { username, password } = readCredentialsNow(sentinelAuth);
  return {
    sentinelPassword: password,
    ...(username === undefined ? {} : { sentinelUsername: username }),
  };
}

function retryAfterMs(attempt: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10), MAX_RETRY_MS);
}

function toCommon(options: RedisStoreOptions, tls: ConnectionOptions | undefined) {
  const { auth, timeoutMs, database = 0 } = options;
  const known = auth && readCredentialsNow(auth);
  return {
    db: database,
    ...(known === undefined ? {} : { password: known.password }),
    ...(known?.username === undefined ? {} : { username: known.username }),
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

/**
 * Lets every new connection read its credentials again where they are in files, and ends one that could
 * not read them or select its database: the client would go on without. Answers why that was so last.
 */
function keepCredentials(
  redis: StoreClient,
  { address, auth, sentinelAuth }: RedisStoreOptions,
): () => string | undefined {
  const faults = new Map<CredentialsSource, string>();
  const read = (source: CredentialsSource): Credentials | undefined => {
    try {
      const known = readCredentialsNow(source);
      faults.delete(source);
      return known;
    } catch (error) {
      faults.set(source, toReason(error));
      return undefined;
    }
  };
  const keep = (client: Redis): void => {
    const { options } = client;
    if (auth !== undefined && 'file' in auth) {
      Object.defineProperties(options, {
        username: { get: () => read(auth)?.username },
        password: { get: () => read(auth)?.password },
      });
    }
    if (sentinelAuth !== undefined && 'file' in sentinelAuth) {
      Object.defineProperties(options, {
        sentinelUsername: { get: () => read(sentinelAuth)?.username },
        sentinelPassword: { get: () => read(sentinelAuth)?.password },
      });
    }
    client.on('connect', () => {
      if (faults.size > 0) client.disconnect(true);
    });
    client.on('error', (error: { readonly command?: { readonly name: string } }) => {
      if (error.command?.name === 'select') client.disconnect(true);
    });
  };
  if (address.kind === 'cluster') redis.on('+node', keep);
  else keep(redis);
  return () => [...faults.values()][0];
}

/** One line when it goes and one when it is back, however often connecting fails meanwhile. */
function logConnection(
  redis: StoreClient,
  store: string,
  logger: Logger,
  fault: () => string | undefined,
): void {
  let lastReason = '';
  let isAway = false;
  redis.on('error', (error: Error) => {
    lastReason = toReason(error);
  });
  redis.on('close', () => {
    if (!isAway)
      logger.warn(`the identity store at ${store} is away`, {
        reason: fault() ?? lastReason,
      });
    isAway = true;
  });
  redis.on('ready', () => {
    logger.info(`connected to the identity store at ${store}`);
    isAway = false;
  });
}
