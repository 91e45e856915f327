import { type Redis } from 'ioredis';
import { StoreError } from '../../core/errors';
import { toReason } from '../../platform/errors';
import { destroyClient } from './client';
import { createExchanges, type Exchanges } from './exchanges';
import { isReplyError } from './handshake';
import { type Scripts } from './lua';
import { createRecentKeys, type RecentKeys } from './recent-keys';
import { isWrongServer, toAnswerError, toLostError, toTimeoutError } from './store-errors';

/** A connection that is ready for use, with what waits for its answers. */
export interface Link {
  /** Where it leads, for messages. */
  readonly store: string;
  readonly client: Redis;
  readonly exchanges: Exchanges;
  /** Keys whose time to live this connection has set; for the mode without scripts. */
  readonly expiring: RecentKeys;
  readonly usesScripts: boolean;
  readonly scripts: Scripts;
  /** Takes no more batches. */
  readonly isRetired: boolean;
  /** Resolves with the reason when it takes no more batches; never rejects. */
  readonly retired: Promise<string>;
  /** Resolves when the connection has ended; never rejects. */
  readonly closed: Promise<void>;
  /** From now on plain commands only. */
  refuseScripts(reason: string): void;
  /** What a failed command means. May retire the link. */
  toError(error: unknown): StoreError;
  /** The same of an answer that is an error in text. */
  toAnswerError(answer: string): StoreError;
  /** Takes no more batches, lets the open ones settle, says QUIT and ends. */
  retire(reason: string): void;
  /** Ends now; what is open fails. */
  destroy(reason: string): void;
}

export interface LinkDeps {
  readonly store: string;
  readonly monotonicMs: () => number;
  readonly onScriptsRefused: (reason: string) => void;
  /** The server hangs or is not the one that counts: its other connections are no better. */
  readonly onServerFault: (reason: string) => void;
}

export interface LinkOptions {
  readonly timeoutMs: number;
  readonly usesScripts: boolean;
  readonly scripts: Scripts;
}

/** Longest wait for the answer to QUIT. */
const QUIT_MS = 250;

/** Of each connection; only servers without scripts fill them. */
const RECENT_KEYS = { maxKeys: 100_000, maxBytes: 32 * 1024 * 1024 };

/** Takes a connected client over; see `Link`. */
export function createLink(client: Redis, deps: LinkDeps, options: LinkOptions): Link {
  const { store, monotonicMs, onScriptsRefused, onServerFault } = deps;
  let { usesScripts } = options;
  let fate: StoreError | undefined;
  let lastFault: string | undefined;
  let isRetired = false;
  let tellRetired: (reason: string) => void = () => undefined;
  const retired = new Promise<string>((resolve) => {
    tellRetired = resolve;
  });
  const closed = new Promise<void>((resolve) => {
    if (client.status === 'end') resolve();
    else client.once('end', resolve);
  });

  const loseTo = (reason: string): StoreError => (fate ??= toLostError(store, reason));

  const end = (reason: string): void => {
    isRetired = true;
    exchanges.stop();
    tellRetired(reason);
    destroyClient(client);
  };

  const sayGoodbye = (): void => {
    const timer = setTimeout(destroyClient, QUIT_MS, client);
    const done = (): void => {
      clearTimeout(timer);
      end('retired');
    };
    client.quit().then(done, done);
  };

  const exchanges = createExchanges(
    {
      monotonicMs,
      onTimeout: () => {
        fate = toTimeoutError(store, options.timeoutMs);
        end(fate.message);
        onServerFault(fate.message);
      },
      onIdle: () => {
        if (isRetired && fate === undefined) sayGoodbye();
      },
    },
    options.timeoutMs,
  );

  const retire = (reason: string): void => {
    if (isRetired) return;
    isRetired = true;
    tellRetired(reason);
    if (exchanges.size === 0) sayGoodbye();
  };

  const readAnswer = (answer: string): StoreError => {
    const error = toAnswerError(store, answer);
    if (!isWrongServer(answer)) return error;
    retire(answer);
    onServerFault(answer);
    return error;
  };

  client.on('error', (error: unknown) => {
    lastFault = toReason(error);
  });
  client.once('close', () => {
    const reason = lastFault ?? 'closed by the server';
    loseTo(reason);
    end(reason);
  });

  if (client.status !== 'ready') end('closed by the server');

  return {
    store,
    client,
    exchanges,
    expiring: createRecentKeys(RECENT_KEYS),
    get usesScripts() {
      return usesScripts;
    },
    scripts: options.scripts,
    get isRetired() {
      return isRetired;
    },
    retired,
    closed,
    refuseScripts(reason) {
      if (!usesScripts) return;
      usesScripts = false;
      onScriptsRefused(reason);
    },
    toError(error) {
      if (error instanceof StoreError) return error;
      if (!isReplyError(error)) return loseTo(lastFault ?? 'closed by the server');
      return readAnswer(error.message);
    },
    toAnswerError: readAnswer,
    retire,
    destroy(reason) {
      loseTo(reason);
      end(reason);
    },
  };
}
