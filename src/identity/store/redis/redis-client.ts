import type { ConnectionOptions } from 'node:tls';
import { Cluster, type RedisOptions, Redis } from 'ioredis';
import {
  readCredentialsNow,
  type CredentialsSource,
  type Credentials,
} from '../../../platform/credentials-source';
import type { Address, StoreAddress } from '../../../platform/env-table/addresses';
import { serverNameOf } from '../../../platform/server-name';
import { readTlsOptionsNow, type ClientTlsFiles } from '../../../platform/tls-files';
import { toReason } from '../../../platform/errors';
import type { Logger } from '../../../platform/logger';

export interface RedisStoreOptions {
  readonly address: StoreAddress;
  readonly auth: CredentialsSource | undefined;
  readonly sentinelAuth: CredentialsSource | undefined;
  /** Selected on every connection; 0 when undefined. */
  readonly database?: number;
  /** For the servers and for the sentinels. */
  readonly tls: ClientTlsFiles | undefined;
  /** Time limit of one command. */
  readonly timeoutMs: number;
}

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;
/** Redirections per command in a cluster; more would exceed its time. */
const MAX_REDIRECTIONS = 4;
const REFRESH_SLOTS_MS = 5_000;

type ServerOptions = Omit<RedisOptions, 'replyMapping'>;
type ClientOptions =
  | { readonly kind: 'single'; readonly redis: ServerOptions }
  | {
      readonly kind: 'cluster';
      readonly nodes: readonly ServerOptions[];
      readonly cluster: NonNullable<ConstructorParameters<typeof Cluster>[1]>;
    };

function toClientOptions(options: RedisStoreOptions): ClientOptions {
  const { address, timeoutMs } = options;
  const tls = options.tls && readTlsOptionsNow(options.tls);
  const common = toCommon(options, tls);
  switch (address.kind) {
    case 'tcp':
      return { kind: 'single', redis: { ...common, ...toNode(address, tls) } };
    case 'unix':
      return { kind: 'single', redis: { ...common, path: address.path } };
    case 'sentinel':
      return { kind: 'single', redis: { ...common, ...toSentinel(options, address, tls) } };
    case 'cluster':
      return {
        kind: 'cluster',
        nodes: address.nodes.map((node) => toNode(node, tls)),
        cluster: {
          redisOptions: common,
          natMap: (key) => toNode(parseAddress(key), tls),
          lazyConnect: true,
          enableOfflineQueue: false,
          clusterRetryStrategy: retryAfterMs,
          slotsRefreshTimeout: timeoutMs,
          slotsRefreshInterval: REFRESH_SLOTS_MS,
          maxRedirections: MAX_REDIRECTIONS,
          retryDelayOnFailover: FIRST_RETRY_MS,
          retryDelayOnClusterDown: FIRST_RETRY_MS,
        },
      };
  }
}

function toCommon(options: RedisStoreOptions, tls: ConnectionOptions | undefined) {
  const { auth, timeoutMs, database = 0 } = options;
  const { username, password } = readIfAny(auth);
  return {
    db: database,
    ...(password !== undefined && { password }),
    ...(username !== undefined && { username }),
    ...(tls !== undefined && { tls }),
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    protocol: 2,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    retryStrategy: retryAfterMs,
    // After a failover the old master is a replica: reconnect, so that the sentinels are queried again.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  } satisfies ServerOptions;
}

function toSentinel(
  { sentinelAuth, timeoutMs }: RedisStoreOptions,
  { masterName, sentinels }: Extract<RedisStoreOptions['address'], { kind: 'sentinel' }>,
  tls: ConnectionOptions | undefined,
): ServerOptions {
  const { username, password } = readIfAny(sentinelAuth);
  return {
    name: masterName,
    sentinels: sentinels.map(({ host, port }) => ({ host, port })),
    natMap: (key) => {
      const { host, port } = parseAddress(key);
      return { host, port, ...serverNameOf(host) };
    },
    sentinelRetryStrategy: retryAfterMs,
    sentinelCommandTimeout: timeoutMs,
    ...(password !== undefined && { sentinelPassword: password }),
    ...(username !== undefined && { sentinelUsername: username }),
    ...(tls !== undefined && {
      sentinelTLS: { ...tls, ...nameOfAll(sentinels) },
      enableTLSForSentinelMode: true,
    }),
  };
}

function readIfAny(source: CredentialsSource | undefined) {
  return source === undefined
    ? { username: undefined, password: undefined }
    : readCredentialsNow(source);
}

function retryAfterMs(attempt: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10), MAX_RETRY_MS);
}

/** A server with the name that its certificate must have. */
function toNode({ host, port }: Address, tls: ConnectionOptions | undefined) {
  return { host, port, ...(tls !== undefined && { tls: { ...tls, ...serverNameOf(host) } }) };
}

/** The client library has one set of options for all sentinels: a name can be given only if all share a host. */
function nameOfAll(sentinels: readonly Address[]) {
  const [host, ...others] = new Set(sentinels.map((sentinel) => sentinel.host));
  return host === undefined || others.length > 0 ? {} : serverNameOf(host);
}

/** Reads the client library's `host:port`. */
function parseAddress(key: string): Address {
  const colon = key.lastIndexOf(':');
  return { host: key.slice(0, colon), port: Number(key.slice(colon + 1)) };
}

/** The address for log lines. */
function toAddressName(address: RedisStoreOptions['address']): string {
  const toText = ({ host, port }: Address): string => `${host}:${String(port)}`;
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

/** One server or a cluster: both have the commands that the store needs, each for one key. */
type StoreClient = Redis | Cluster;

/**
 * Opens a connection that reconnects by itself. A command is sent once: without a connection, or when the
 * connection breaks, it fails at once.
 */
export function openRedis(options: RedisStoreOptions, logger: Logger): StoreClient {
  const redis = createClient(options);
  const fault = refreshCredentials(redis, options);
  logConnection(redis, toAddressName(options.address), logger, fault);
  return redis;
}

function createClient(options: RedisStoreOptions): StoreClient {
  const client = toClientOptions(options);
  if (client.kind === 'single') return new Redis(client.redis);
  return new Cluster([...client.nodes], client.cluster);
}

/**
 * Reads credentials from their files again for each new connection. Ends a connection whose credentials cannot be read or whose
 * database cannot be selected: the client library would continue without. Returns a function with the last reason why credentials
 * could not be read.
 */
function refreshCredentials(
  redis: StoreClient,
  { auth, sentinelAuth }: RedisStoreOptions,
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
  const follow = (client: Redis): void => {
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
  if (redis instanceof Cluster) redis.on('+node', follow);
  else follow(redis);
  return () => [...faults.values()][0];
}

/**
 * Logs one line when the store becomes unreachable and one when it is back, however often connecting fails meanwhile; unreadable
 * credentials are logged at once.
 */
function logConnection(
  redis: StoreClient,
  store: string,
  logger: Logger,
  fault: () => string | undefined,
): void {
  let lastError = 'the connection was closed';
  let logged: string | undefined;
  redis.on('error', (error: Error) => {
    lastError = toReason(error);
  });
  redis.on('close', () => {
    const unreadable = fault();
    const isNews = logged === undefined || (unreadable !== undefined && unreadable !== logged);
    logged = unreadable ?? logged ?? lastError;
    if (isNews) logger.warn(`the identity store at ${store} is unreachable`, { reason: logged });
  });
  redis.on('ready', () => {
    logger.info(`connected to the identity store at ${store}`);
    lastError = 'the connection was closed';
    logged = undefined;
  });
}
