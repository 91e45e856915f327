import { EMPTY, merge } from 'rxjs';
import { type StoreError } from '../../core/errors';
import { createKeptConnection, longestAttemptMs } from '../connection/kept-connection';
import { type OperationsReply } from './operations-call';
import { type RedisConnection } from './connection';
import { type ServerAnswers } from './probe-server';
import {
  createConnections,
  MAX_BATCHES_IN_FLIGHT,
  MAX_INCREMENTS_IN_FLIGHT,
  createPoolGrowth,
} from './connections';
import { openConnection, takesScripts } from './open-connection';
import { createServerClock, readServerMicros } from './server-clock';
import {
  toAddressText,
  type NodeOptions,
  type PoolOptions,
  type RedisCountersDeps,
} from './options';
import { createPlacement } from './placement';
import { createScriptsUse } from './scripts-use';
import {
  isKeysRefused,
  toGivenUpError,
  toNeverSentError,
  toUnavailableError,
} from './store-errors';
import { createWaitQueue } from './wait-queue';

/** Statistics of the connections and batches of a store. */
export interface StoreStatistics {
  opened(): void;
  closed(): void;
  /** A batch was written to a server, and whether it was counted cannot be known. */
  outcomeUnknown(): void;
  /** Calls have mended counters that a wrong clock had written. */
  mended(counters: number): void;
  /** The clock of a server differs from ours by `seconds`; undefined: the server is not used any more. */
  clockDiffers(store: string, seconds: number | undefined): void;
}

export interface PoolDeps extends RedisCountersDeps {
  readonly storeStatistics: StoreStatistics;
  /** The server was connected (true), or was lost or could not be connected to (false). */
  readonly onPresence?: (isThere: boolean) => void;
}

const ONE_CONNECTION: PoolOptions = { size: 1, onEmpty: 'wait', onEmptyWaitMs: 0 };

/** With this many batches in flight on the last connection another one is opened in advance. */
const EARLY_GROWTH = MAX_BATCHES_IN_FLIGHT / 2;

/** The connections to one server. */
export function createPool(deps: PoolDeps, options: NodeOptions) {
  const { monotonicMs, onEvent, storeStatistics, onPresence } = deps;
  const { timeoutMs, pool = ONE_CONNECTION, waitsForFirstConnection = false } = options;
  const store = toAddressText(options.address);
  const connections = createConnections();
  const placement = createPlacement(deps, store, options.typeSetting);
  let isAway = false;
  let mayExpire = true;
  let areKeysRefused = false;
  let wasConnected = false;

  const connectionDeps = {
    store,
    monotonicMs,
    onScriptsRefused: (reason: string) => {
      areKeysRefused ||= isKeysRefused(reason);
      scriptsUse.refused(reason);
    },
    onAnswers: ({ expireRefused: reason, ...answers }: ServerAnswers) => {
      if (mayExpire && reason !== undefined) onEvent?.({ kind: 'expire-refused', store, reason });
      mayExpire = reason === undefined;
      placement.onAnswers(answers);
    },
    onMisplaced: placement.onMisplaced,
    onServed: placement.onServed,
    clock: deps.clock,
    onAnswered: (
      { atMicros, mended }: Pick<OperationsReply, 'atMicros' | 'mended'>,
      sentSeconds: number | undefined,
    ) => {
      if (mended > 0) storeStatistics.mended(mended);
      if (sentSeconds !== undefined) serverClock?.note(atMicros, sentSeconds);
    },
    onServerFault: (reason: string) => {
      connections.retireAll(reason);
    },
  };
  const serverClock =
    deps.clock &&
    createServerClock({
      ...deps,
      clock: deps.clock,
      store,
      onDifference: (seconds) => {
        storeStatistics.clockDiffers(store, seconds);
      },
      readMicros: () => readServerMicros(connections.usable[0]),
    });
  const scriptsUse = createScriptsUse({
    ...deps,
    store,
    ask: (signal) =>
      takesScripts(deps, { ...options, attemptMs: timeoutMs, signal }, areKeysRefused),
    onTaken() {
      areKeysRefused = false;
      connections.allowScripts();
    },
  });
  const open = async (attemptMs: number, signal: AbortSignal): Promise<RedisConnection> => {
    const connection = await openConnection(connectionDeps, {
      ...options,
      attemptMs,
      signal,
      // Some calls may be right: a restart of the connection does not fail those that have worked so far.
      takesNodeOfCluster: wasConnected,
    }).catch((error: unknown) => {
      placement.onRefused(error);
      throw error;
    });
    connections.add(connection);
    storeStatistics.opened();
    void connection.closed.then(() => {
      storeStatistics.closed();
    });
    return connection;
  };

  /** While others are being opened, which takes some round trips, the open ones take their load. */
  const standIn = (weight: number): RedisConnection | undefined => {
    const open = connections.usable.length;
    if (open === 0 || main.signal.aborted) return undefined;
    const inFlight = connections.countInFlight();
    growth.grow(Math.ceil((inFlight + 1 + EARLY_GROWTH) / MAX_BATCHES_IN_FLIGHT) - open);
    const room = Math.min(open + growth.opening, pool.size) * MAX_BATCHES_IN_FLIGHT;
    return inFlight < room ? connections.leastBusy(weight, monotonicMs()) : undefined;
  };
  const serve = (): void => {
    queue.serve((weight) => {
      const connection = connections.free(weight) ?? standIn(weight);
      return connection && { connection, batchInFlight: connection.inFlight.begin(weight) };
    });
    if (queue.isOverdue && pool.onEmpty === 'create') growth.overflow();
  };
  const use = (connection: RedisConnection, at: 'first' | 'last'): void => {
    isAway = false;
    wasConnected = true;
    connections.use(connection, at, () => {
      if (connections.usable.length === 0) queue.rejectAll(awayError());
    });
    serve();
  };
  const awayError = (): StoreError => toUnavailableError(store, main.reason);

  const growth = createPoolGrowth(
    {
      monotonicMs,
      open: () => open(longestAttemptMs(timeoutMs), main.signal),
      onOpen: (connection) => {
        use(connection, 'last');
      },
      onFailure: (reason) => onEvent?.({ kind: 'pool-not-grown', store, reason }),
    },
    pool.size,
  );
  const queue = createWaitQueue({
    timeoutMs,
    toTimeoutError: () => toNeverSentError(store, timeoutMs),
    overdueMs: pool.onEmptyWaitMs,
    onOverdue() {
      if (pool.onEmpty === 'create') growth.overflow();
      return pool.onEmpty === 'error' ? toEmptyError(store, pool) : undefined;
    },
  });

  const { startupMaxElapsedMs: afterMs = 0 } = options;
  const main = createKeptConnection<RedisConnection>(
    {
      ...deps,
      onEvent,
      store,
      open,
      onOpen(connection) {
        use(connection, 'first');
        onPresence?.(true);
        onEvent?.({ kind: 'connected', store, usesScripts: connection.usesScripts });
        serverClock?.compare();
      },
      onAway() {
        isAway = true;
        if (connections.usable.length === 0) queue.rejectAll(awayError());
        onPresence?.(false);
      },
      onEnd() {
        connections.destroyAll('the service is stopping');
      },
    },
    {
      timeoutMs,
      initialMs: options.startupInitialMs,
      maxMs: options.startupMaxMs,
      giveUp: { afterMs, toError: (reason) => toGivenUpError(store, afterMs, reason) },
    },
  );

  return {
    store,
    /** For commands other than batches. */
    get anyConnection() {
      return connections.usable[0];
    },
    /** It refuses scripts now, although the settings ask for them. */
    get lacksScripts() {
      return options.scripts !== false && connections.usable.some((each) => !each.usesScripts);
    },
    /** See `KeptConnection`. */
    run$: merge(main.run$, scriptsUse.run$, serverClock?.run$ ?? EMPTY),
    /** A connection with room for a batch of this size; undefined when it has to wait. */
    free(weight: number) {
      const connection = connections.free(weight);
      if (connection === undefined) return queue.size === 0 ? standIn(weight) : undefined;
      if (connection.inFlight.size < EARLY_GROWTH) return connection;
      if (connection === connections.usable.at(-1)) growth.grow(1);
      return connection;
    },
    /**
     * Waits for a connection. Rejects with a StoreError at once when there is none at all, unless the first one is being opened and
     * `waitsForFirstConnection` is set.
     */
    async wait(weight: number) {
      const isComing = waitsForFirstConnection && !isAway;
      const isThere = connections.usable.length > 0 || isComing;
      if (!isThere || main.signal.aborted) throw awayError();
      const isCrowded = queue.size > 0 && queue.weight + weight > MAX_INCREMENTS_IN_FLIGHT;
      if (isCrowded) throw toUnavailableError(store, 'too many calls are waiting for a reply');
      // Opening one takes some round trips to a distant server: those who wait for it must not wait for the next one too.
      growth.grow(Math.ceil((queue.size + 1) / MAX_BATCHES_IN_FLIGHT));
      return queue.join(weight);
    },
    /** A batch of this connection has ended. */
    released(connection: RedisConnection) {
      if (queue.size > 0) serve();
      growth.released(connection);
    },
    /** Waits for pending answers, at most `graceMs`, then disconnects. */
    async close(reason: string, graceMs = timeoutMs * 2) {
      main.stop(reason);
      scriptsUse.close();
      serverClock?.close();
      storeStatistics.clockDiffers(store, undefined);
      queue.rejectAll(toUnavailableError(store, reason));
      connections.retireAll(reason);
      const timer = setTimeout(() => {
        connections.destroyAll(reason);
      }, graceMs);
      await connections.closed();
      clearTimeout(timer);
      main.end();
    },
  };
}

function toEmptyError(store: string, { size, onEmptyWaitMs }: PoolOptions): StoreError {
  const what = `none of its ${String(size)} connections was free within ${String(onEmptyWaitMs)} ms`;
  return toUnavailableError(store, what);
}
