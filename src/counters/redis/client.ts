import { Redis, type RedisOptions } from 'ioredis';
import { serverNameOf } from '../../platform/server-name';
import { readTlsOptions } from '../../platform/tls-files';
import { type RedisAddress } from './address';
import { type RedisTls } from './options';

/**
 * One client is one connection: it never connects again and never sends a command twice. What was
 * written and not answered when the connection ends is rejected (ioredis, event_handler.js: without a
 * retry strategy `close` flushes the queue). The handshake is ours, so that nothing is sent that a
 * proxy does not know, and no password stays in the client.
 */
const ONE_CONNECTION = {
  lazyConnect: true,
  retryStrategy: () => null,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
} as const satisfies RedisOptions;

/** A client that is not connected yet. Rejects when a certificate cannot be read. */
export async function createClient(
  { address, tls }: { readonly address: RedisAddress; readonly tls?: RedisTls | undefined },
  connectTimeoutMs: number,
): Promise<Redis> {
  const place =
    address.kind === 'tcp' ? { host: address.host, port: address.port } : { path: address.path };
  const serverName = address.kind === 'tcp' ? serverNameOf(address.host) : {};
  const secured =
    tls === undefined ? {} : { tls: { ...serverName, ...(await readTlsOptions(tls)) } };
  const connectTimeout = connectTimeoutMs;
  return new Redis({ ...ONE_CONNECTION, ...place, ...secured, connectTimeout });
}

/** Ends a connection at once, without a word to the server; safe to call again. */
export function destroyClient(client: Redis): void {
  const { stream } = client as { stream?: Redis['stream'] };
  // Disconnecting a closed socket would leave a timer behind.
  if (stream?.destroyed === true) return;
  client.disconnect();
  stream?.destroy();
}
