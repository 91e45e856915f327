import type { Redis } from 'ioredis';
import { StoreError } from '../../core/errors';
import type { Clock } from '../../core/ports';
import { toReason } from '../../platform/errors';
import type { OperationsReply } from './operations-call';
import { isReplyError } from './probe-server';
import { probeServer, type ServerAnswers } from './probe-server';
import { createBatchesInFlight } from './in-flight';
import type { Scripts } from './lua/scripts';
import { AwayError, isOfCluster } from './wrong-kind';
import {
  isRedisAway,
  isWrongServer,
  toAnswerError,
  toLostError,
  toTimeoutError,
} from './store-errors';
import { copyOf } from '../../platform/copy-of';
import { bytesOfText, toKeptKey } from '../kept-key';

interface RecentKeysOptions {
  readonly maxKeys: number;
  readonly maxBytes: number;
}

/** Memory that V8 needs per key besides its characters: a string and a set slot. */
const KEY_BYTES = 60;

/** A bounded set of keys in two halves; the older half is dropped when the newer one is full. */
export function createRecentKeys({ maxKeys, maxBytes }: RecentKeysOptions) {
  let newer = new Set<string>();
  let older = new Set<string>();
  let bytes = 0;
  return {
    has(key: string) {
      const kept = toKeptKey(key);
      return newer.has(kept) || older.has(kept);
    },
    add(key: string) {
      const kept = toKeptKey(key);
      if (newer.has(kept)) return;
      newer.add(copyOf(kept));
      bytes += KEY_BYTES + bytesOfText(kept);
      if (newer.size < Math.ceil(maxKeys / 2) && bytes < maxBytes / 2) return;
      older = newer;
      newer = new Set();
      bytes = 0;
    },
  };
}

export interface ConnectionDeps {
  readonly store: string;
  readonly monotonicMs: () => number;
  readonly onScriptsRefused: (reason: string) => void;
  /** The server's answers to questions about keys that no counter has. */
  readonly onAnswers: (answers: ServerAnswers) => void;
  /** A server that was taken for the only one shows by this answer that it is not; returns the message for it. */
  readonly onMisplaced: (kind: 'cluster' | 'replica', answer: string) => string;
  /** The first batch of a connection was answered. */
  readonly onServed: () => void;
  /** The time of day of this process; undefined: it is not compared with the server's. */
  readonly clock?: Clock | undefined;
  /** A script for kinds that read first was answered; `sentSeconds`: by `clock`. */
  readonly onAnswered: (
    reply: Pick<OperationsReply, 'atMicros' | 'mended'>,
    sentSeconds: number | undefined,
  ) => void;
  /** The server hangs or is the wrong one: its other connections fail alike. */
  readonly onServerFault: (reason: string) => void;
}

export interface ConnectionOptions {
  readonly timeoutMs: number;
  readonly roundTripMs: number;
  readonly usesScripts: boolean;
  readonly scripts: Scripts;
  /** It leads to the only server of its store. */
  readonly isOnlyServer: boolean;
}

/** Longest wait for the answer to QUIT. */
const QUIT_MS = 250;

/** Per connection; used only for servers without scripts. */
const RECENT_KEYS = { maxKeys: 100_000, maxBytes: 32 * 1024 * 1024 };

/** Takes a connected client over; see `RedisConnection`. */
export function createConnection(client: Redis, deps: ConnectionDeps, options: ConnectionOptions) {
  const { store, monotonicMs, clock, onScriptsRefused, onAnswered, onServerFault } = deps;
  let { usesScripts } = options;
  let lostError: StoreError | undefined;
  let lastFault: string | undefined;
  let isRetired = false;
  let hasServed = false;
  let isAskingBehind = false;
  const { isOnlyServer: isAlone } = options;
  let resolveRetired: (reason: string) => void = () => undefined;
  const retired = new Promise<string>((resolve) => {
    resolveRetired = resolve;
  });
  const closed = new Promise<void>((resolve) => {
    if (client.status === 'end') resolve();
    else client.once('end', resolve);
  });

  const lostTo = (reason: string): StoreError => (lostError ??= toLostError(store, reason));

  const end = (reason: string): void => {
    isRetired = true;
    inFlight.stop();
    resolveRetired(reason);
    destroyClient(client);
  };

  const quit = (): void => {
    const timer = setTimeout(destroyClient, QUIT_MS, client);
    const done = (): void => {
      clearTimeout(timer);
      end('retired');
    };
    client.quit().then(done, done);
  };

  const inFlight = createBatchesInFlight(
    {
      monotonicMs,
      onTimeout: () => {
        lostError = toTimeoutError(store, options.timeoutMs);
        end(lostError.message);
        onServerFault(lostError.message);
      },
      onEnd: (left) => {
        if (lostError !== undefined) return;
        if (!isRetired) {
          if (!hasServed) deps.onServed();
          hasServed = true;
        } else if (left === 0) quit();
      },
    },
    options.timeoutMs,
  );

  const retire = (reason: string): void => {
    if (isRetired) return;
    isRetired = true;
    resolveRetired(reason);
    if (inFlight.size === 0) quit();
  };

  // Sentinels and clusters know of their failovers.
  const isReplica = (answer: string): boolean => isAlone && answer.startsWith('READONLY');

  const leave = (reason: string): void => {
    retire(reason);
    onServerFault(reason);
  };

  /** One of several shards behind a proxy may be unreachable; the connection is left when all are. */
  const probeBehindProxy = async (): Promise<void> => {
    if (isAskingBehind || isRetired) return;
    isAskingBehind = true;
    try {
      await probeServer(client, { isOnlyServer: isAlone });
    } catch (error) {
      if (error instanceof AwayError) leave(error.message);
    } finally {
      isAskingBehind = false;
    }
  };

  const readAnswer = (answer: string): StoreError => {
    const error = toAnswerError(store, answer);
    if (isRedisAway(answer)) void probeBehindProxy();
    else if (isAlone && isOfCluster(answer)) deps.onMisplaced('cluster', answer);
    if (isWrongServer(answer))
      leave(isReplica(answer) ? deps.onMisplaced('replica', answer) : answer);
    return error;
  };

  client.on('error', (error: unknown) => {
    lastFault = toReason(error);
  });
  client.once('close', () => {
    const reason = lastFault ?? 'closed by the server';
    lostTo(reason);
    end(reason);
  });

  if (client.status !== 'ready') end('closed by the server');

  return {
    /** The server's address, for messages. */
    store,
    client,
    inFlight,
    /** See ConnectionDeps. */
    clock,
    onAnswered,
    /** Duration of the first round trip. */
    roundTripMs: options.roundTripMs,
    /** Keys whose time to live this connection has set; for the mode without scripts. */
    expiring: createRecentKeys(RECENT_KEYS),
    get usesScripts() {
      return usesScripts;
    },
    scripts: options.scripts,
    /** Accepts no more batches. */
    get isRetired() {
      return isRetired;
    },
    get hasServed() {
      return hasServed;
    },
    retired,
    /** Resolves when the connection has ended; never rejects. */
    closed,
    /** From now on plain commands only, until scripts are allowed again. */
    refuseScripts(reason: string) {
      if (!usesScripts) return;
      usesScripts = false;
      onScriptsRefused(reason);
    },
    allowScripts() {
      usesScripts = true;
    },
    /** The meaning of a failed command. Retires the connection where the server is the wrong one. */
    toError(error: unknown) {
      if (error instanceof StoreError) return error;
      if (!isReplyError(error)) return lostTo(lastFault ?? 'closed by the server');
      return readAnswer(error.message);
    },
    /** The same for an error that a script returned as a text. */
    toAnswerError: readAnswer,
    /** Accepts no more batches, waits for pending ones, sends QUIT and ends. */
    retire,
    destroy(reason: string) {
      lostTo(reason);
      end(reason);
    },
  };
}

/** A connection that is ready for use, with its batches in flight. */
export type RedisConnection = ReturnType<typeof createConnection>;

/** Ends a connection at once, without QUIT; safe to call again. */
export function destroyClient(client: Redis): void {
  const { stream } = client as { stream?: Redis['stream'] };
  // Disconnecting a closed socket would leave its timer running.
  if (stream?.destroyed === true) return;
  client.disconnect();
  stream?.destroy();
}
