import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Redis } from 'ioredis';
import type { Logger } from '../../../platform/logger/logger';

export interface RedisStoreOptions {
  readonly address:
    | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
    | { readonly kind: 'unix'; readonly path: string };
  readonly auth: { readonly username: string | undefined; readonly password: string } | undefined;
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

/**
 * A connection that comes back by itself. A command is sent once: without a connection, or when it
 * breaks, the command fails at once.
 */
export function openRedis(options: RedisStoreOptions, logger: Logger): Redis {
  const { address, auth, tls, timeoutMs } = options;
  const place =
    address.kind === 'tcp' ? { host: address.host, port: address.port } : { path: address.path };
  const redis = new Redis({
    ...place,
    ...(auth === undefined ? {} : { password: auth.password }),
    ...(auth?.username === undefined ? {} : { username: auth.username }),
    ...(tls === undefined ? {} : { tls: readTls(tls) }),
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    protocol: 2,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    retryStrategy: (attempt) => Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS),
  });
  const store = address.kind === 'tcp' ? `${address.host}:${String(address.port)}` : address.path;
  logConnection(redis, store, logger);
  return redis;
}

/** One line when it goes and one when it is back, however often connecting fails meanwhile. */
function logConnection(redis: Redis, store: string, logger: Logger): void {
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
