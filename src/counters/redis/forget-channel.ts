import { type Redis } from 'ioredis';
import { type Observable } from 'rxjs';
import { readCredentials } from '../../platform/credentials-source';
import { toReason } from '../../platform/errors';
import { createKeptConnection, type OpenConnection } from '../connection/kept-connection';
import { toKeptKey } from '../kept-key';
import { destroyClient } from './connection';
import { authenticate } from './handshake';
import { openClient } from './open-connection';
import { type RedisCounters, type RedisCountersDeps, type ServerOptions } from './options';

/** Tells the instances that share a store which counters their local caches must forget; a message comes at most once. */
export interface ForgetChannel {
  /** Never fails: where a message does not arrive, what is cached lasts until the window of the counter ends. */
  readonly tell: (keys: readonly string[]) => void;
  /** Keeps one connection that listens while it is subscribed to; subscribe once. Completes after `close`. */
  readonly run$: Observable<never>;
  close(): void;
}

export interface ForgetChannelDeps extends Pick<
  RedisCountersDeps,
  'monotonicMs' | 'random' | 'onEvent'
> {
  readonly store: Pick<RedisCounters, 'ask' | 'anyServer'>;
  /** The keys of counters to forget, long ones by their digests; undefined: messages may have been missed. */
  readonly onForget: (keys: readonly string[] | undefined) => void;
}

export interface ForgetChannelOptions extends Pick<ServerOptions, 'auth' | 'tls' | 'timeoutMs'> {
  readonly channel: string;
  /** The store's name in messages. */
  readonly name: string;
}

/** How often the connection is asked whether it is there; one without an answer until the next time is replaced. */
const PING_EVERY_MS = 5_000;
/** Keys of one message; more are not looked for one by one: all counters are forgotten. */
const MAX_KEYS = 10_000;
const RECONNECT = { initialMs: 100, maxMs: 5_000 };

export function createForgetChannel(
  { store, onForget, onEvent, ...deps }: ForgetChannelDeps,
  options: ForgetChannelOptions,
): ForgetChannel {
  const { channel, name, timeoutMs } = options;
  let hasWarned = false;
  let isFirst = true;

  const warnOnce = (error: unknown): void => {
    if (hasWarned) return;
    hasWarned = true;
    onEvent?.({ kind: 'forget-refused', store: name, reason: toReason(error) });
  };
  const open = async (attemptMs: number, signal: AbortSignal): Promise<OpenConnection> => {
    const address = store.anyServer();
    if (address === undefined) throw new Error('no server of the store is known now');
    const auth = await readCredentials(options.auth);
    const { tls } = options;
    const { client } = await openClient({ address, tls, attemptMs, signal }, async (fresh) => {
      if (auth !== undefined) await authenticate(fresh, auth);
      // eslint-disable-next-line no-restricted-syntax -- the command of Redis, not of a stream
      await fresh.subscribe(channel).catch((error: unknown) => {
        warnOnce(error);
        throw error;
      });
    });
    client.on('message', (_channel: string, message: string) => {
      const keys = readKeys(message);
      if (keys !== undefined) onForget(keys.length > MAX_KEYS ? undefined : keys);
    });
    return listening(client);
  };
  const kept = createKeptConnection<OpenConnection>(
    {
      ...deps,
      store: name,
      open,
      onOpen() {
        if (!isFirst) onForget(undefined);
        isFirst = false;
      },
      onAway: () => undefined,
      onEnd: () => kept.current?.destroy('closed by us'),
      // The pool of the store says that a server is away.
      onEvent: undefined,
    },
    { timeoutMs, ...RECONNECT },
  );
  return {
    run$: kept.run$,
    tell(keys) {
      const message = JSON.stringify(keys.map(toKeptKey));
      store.ask(channel, [['publish', channel, message]]).catch(warnOnce);
    },
    close() {
      kept.stop('closed by us');
      kept.current?.destroy('closed by us');
      kept.end();
    },
  };
}

/** Watches a connection that listens. */
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

/** Anybody may write to a channel: anything but a list of texts is ignored. */
function readKeys(message: string): readonly string[] | undefined {
  try {
    const keys: unknown = JSON.parse(message);
    return Array.isArray(keys) && keys.every((key) => typeof key === 'string') ? keys : undefined;
  } catch {
    return undefined;
  }
}
