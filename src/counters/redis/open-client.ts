import { type Redis } from 'ioredis';
import { toReason } from '../../platform/errors';
import { type RedisAddress } from './address';
import { createClient, destroyClient } from './client';
import { type RedisTls } from './options';

export interface OpenClientOptions {
  readonly address: RedisAddress;
  readonly tls?: RedisTls | undefined;
  /** How long connecting and the handshake may take. */
  readonly attemptMs: number;
  readonly signal: AbortSignal;
}

/** The first thing that went wrong with a connection, in words, with what the handshake threw as its cause. */
export class OpenError extends Error {
  override readonly name = 'OpenError';
  /** Nothing went wrong but the handshake. */
  readonly isHandshakeOnly: boolean;
  constructor(fault: string | undefined, cause: unknown) {
    super(fault ?? toReason(cause), { cause });
    this.isHandshakeOnly = fault === undefined;
  }
}

/** Connects and shakes hands; rejects with an `OpenError`, and then leaves nothing open. */
export async function openClient<T>(
  options: OpenClientOptions,
  handshake: (client: Redis) => Promise<T>,
): Promise<{ readonly client: Redis; readonly result: T }> {
  const { attemptMs, signal } = options;
  const client = await createClient(options, attemptMs);
  let fault: string | undefined;
  const giveUp = (reason: string): void => {
    fault = reason;
    destroyClient(client);
  };
  const stop = (): void => {
    giveUp('the counters are closed');
  };
  const noteFault = (error: unknown): void => {
    fault ??= toReason(error);
  };
  const timer = setTimeout(() => {
    // Redis waits for the end of a line, which the first words of TLS do not have.
    const isConnected = (client as { stream?: Redis['stream'] }).stream?.connecting === false;
    const hint = options.tls !== undefined && client.status === 'connecting' && isConnected;
    const guess = hint ? ': the server may speak no TLS' : '';
    giveUp(`no answer within ${String(attemptMs)} ms${guess}`);
  }, attemptMs);
  signal.addEventListener('abort', stop);
  client.on('error', noteFault);
  try {
    signal.throwIfAborted();
    await client.connect();
    return { client, result: await handshake(client) };
  } catch (error) {
    destroyClient(client);
    throw new OpenError(fault, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    client.off('error', noteFault);
  }
}
