import { Cluster, Redis } from 'ioredis';
import {
  readCredentialsNow,
  type CredentialsSource,
  type Credentials,
} from '../../../platform/credentials-source';
import { toReason } from '../../../platform/errors';
import type { Logger } from '../../../platform/logger';
import { toAddressName, toClientOptions, type RedisStoreOptions } from './client-options';

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
