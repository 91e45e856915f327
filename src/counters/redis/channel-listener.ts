import { type Redis } from 'ioredis';
import { readCredentials } from '../../platform/credentials-source';
import { toReason } from '../../platform/errors';
import { createKeptConnection, type OpenConnection } from '../connection/kept-connection';
import { destroyClient } from './connection';
import { authenticate } from './handshake';
import { openClient } from './open-connection';
import { type RedisAddress, type RedisCountersDeps, type ServerOptions } from './options';

export interface ChannelListenerDeps extends Pick<RedisCountersDeps, 'monotonicMs' | 'random'> {
  /** Where to listen; undefined: nowhere now. */
  readonly address: () => RedisAddress | undefined;
  readonly onMessage: (message: string) => void;
  /** It listens: messages may have been missed before. */
  readonly onListening: (isFirst: boolean) => void;
  readonly onRefused: (error: unknown) => void;
}

export interface ChannelListenerOptions extends Pick<ServerOptions, 'auth' | 'tls' | 'timeoutMs'> {
  readonly channels: readonly string[];
  /** The server's name in messages. */
  readonly name: string;
}

/** Interval of PING; a connection without an answer until the next one is replaced. */
const PING_EVERY_MS = 5_000;
const RECONNECT = { initialMs: 100, maxMs: 5_000 };

/** One connection that listens to channels of a server, reopened whenever it is lost. */
export function createChannelListener(
  { address, onMessage, onListening, onRefused, ...deps }: ChannelListenerDeps,
  options: ChannelListenerOptions,
) {
  const { channels, name, timeoutMs, tls } = options;
  let isFirst = true;
  const open = async (attemptMs: number, signal: AbortSignal): Promise<OpenConnection> => {
    const place = address();
    if (place === undefined) throw new Error('no server of the store is known');
    const auth = await readCredentials(options.auth);
    const { client } = await openClient(
      { address: place, tls, attemptMs, signal },
      async (fresh) => {
        if (auth !== undefined) await authenticate(fresh, auth);
        fresh.on('message', (_channel: string, message: string) => {
          onMessage(message);
        });
        // eslint-disable-next-line no-restricted-syntax -- the command of Redis, not of a stream
        await fresh.subscribe(...channels).catch((error: unknown) => {
          onRefused(error);
          throw error;
        });
      },
    );
    return listening(client);
  };
  const kept = createKeptConnection<OpenConnection>(
    {
      ...deps,
      store: name,
      open,
      onOpen() {
        onListening(isFirst);
        isFirst = false;
      },
      onAway: () => undefined,
      onEnd: () => kept.current?.destroy('closed by this service'),
      // Other connections to the server report that it is unreachable.
      onEvent: undefined,
    },
    { timeoutMs, ...RECONNECT },
  );
  return {
    /** Listens while it is subscribed to; subscribe once. Completes after `close`. */
    run$: kept.run$,
    close: () => {
      kept.stop('closed by this service');
      kept.current?.destroy('closed by this service');
      kept.end();
    },
  };
}

function listening(client: Redis): OpenConnection {
  let fault: string | undefined;
  let isAsked = false;
  const timer = setInterval(() => {
    if (isAsked) {
      fault = `it did not answer within ${String(PING_EVERY_MS)} ms`;
      destroyClient(client);
      return;
    }
    isAsked = true;
    client.ping().then(
      () => (isAsked = false),
      () => undefined,
    );
  }, PING_EVERY_MS).unref();
  const retired = new Promise<string>((resolve) => {
    const end = (): void => {
      clearInterval(timer);
      resolve(fault ?? 'closed by the server');
    };
    client.on('error', (error: unknown) => (fault ??= toReason(error)));
    client.once('close', end);
    if (client.status !== 'ready') end();
  });
  return {
    retired,
    destroy(reason) {
      fault ??= reason;
      destroyClient(client);
    },
  };
}
