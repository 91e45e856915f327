import { addressText } from '../../platform/listen-address';
import { createKeptConnection, withinAttempt, type Attempt } from '../connection/kept-connection';
import {
  type MemcachedConnection,
  createMemcachedConnection,
  type MemcachedConnectionOptions,
} from './connection';
import { createNodeCounters } from './node-counters';
import type {
  MemcachedCountersDeps,
  MemcachedCountersOptions,
  NodeAddress,
  MemcachedEvent,
} from './options';
import { createNodeErrors } from './store-errors';
import type { StoreError } from '../../core/errors';
import type { Count } from '../count';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { toReason } from '../../platform/errors';
import { serverNameOf } from '../../platform/server-name';
import { readTlsOptions, type ClientTlsFiles } from '../../platform/tls-files';
import { VERSION } from './protocol';

/** Interval for reporting that hits could not be added. */
const REPORT_EVERY_MS = 1_000;

/** Events of one connection: the first loss at once, then at most one per second with all hits lost since. */
export function createLostHits(
  store: string,
  onEvent: ((event: MemcachedEvent) => void) | undefined,
) {
  let hits = 0;
  let reason = '';
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;

  const tellOfEnd = (): void => onEvent?.({ kind: 'added-again', store });
  const report = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (hits === 0) return;
    onEvent?.({ kind: 'not-added', store, reason, hits });
    hits = 0;
    if (!isFailing) tellOfEnd();
    timer = setTimeout(report, REPORT_EVERY_MS).unref();
  };
  return {
    lost: ({ message }: StoreError, by: Count) => {
      hits += Math.abs(Number(by));
      reason = message;
      isFailing = true;
      if (timer === undefined) report();
    },
    added: () => {
      if (!isFailing) return;
      isFailing = false;
      if (hits === 0) tellOfEnd();
    },
    /** Reports what was not reported yet. */
    close() {
      report();
      clearTimeout(timer);
    },
  };
}

interface NodePartDeps extends MemcachedCountersDeps {
  /** The connection was opened or lost. */
  readonly onPresence: () => void;
  readonly isOnlyNode: () => boolean;
}

const CLOSED = 'the service is stopping';

/** One of the connections to a node, with its counters. */
export function createNodePart(
  address: NodeAddress,
  deps: NodePartDeps,
  options: MemcachedCountersOptions,
) {
  const { monotonicMs, onEvent, onPresence, statistics } = deps;
  const { timeoutMs, tls } = options;
  const store = addressText(address);
  const errors = createNodeErrors(store, deps.isOnlyNode);
  let wasConnected = false;
  let wasTried = false;
  const kept = createKeptConnection<MemcachedConnection>(
    {
      ...deps,
      onEvent,
      store,
      open: (attemptMs, signal) =>
        openMemcachedConnection({
          address,
          tls,
          errors,
          timeoutMs,
          monotonicMs,
          attemptMs,
          signal,
        }),
      onOpen() {
        onEvent?.({ kind: 'connected', store });
        wasConnected = wasTried = true;
        onPresence();
      },
      onAway() {
        wasTried = true;
        onPresence();
      },
      onEnd: () => kept.current?.destroy(CLOSED),
    },
    { timeoutMs, initialMs: options.initialIntervalMs, maxMs: options.maxIntervalMs },
  );
  const lostHits = createLostHits(store, onEvent);
  const counters = createNodeCounters(
    { kept, errors },
    { statistics, onNotAdded: lostHits.lost, onAdded: lostHits.added },
  );
  return {
    counters,
    isConnected: () => kept.current !== undefined,
    /** At least once. */
    wasConnected: () => wasConnected,
    /** It was connected, or an attempt has failed. */
    wasTried: () => wasTried,
    /** Connects, and reconnects, while it is subscribed to. */
    run$: kept.run$,
    /** Waits for pending replies, then disconnects. */
    async close() {
      kept.stop(CLOSED);
      const { current } = kept;
      current?.endWhenIdle();
      await current?.retired;
      lostHits.close();
      kept.end();
    },
  };
}

export type NodePart = ReturnType<typeof createNodePart>;

interface OpenOptions extends MemcachedConnectionOptions, Attempt {
  readonly address: NodeAddress;
  readonly tls: ClientTlsFiles | undefined;
}

/**
 * Connects and waits until the server answers a command: a hung one accepts connections too. Rejects with an error that explains
 * the failure.
 */
async function openMemcachedConnection(options: OpenOptions): Promise<MemcachedConnection> {
  const { address, tls, signal } = options;
  const tlsOptions = tls === undefined ? undefined : await readTlsOptions(tls);
  signal.throwIfAborted();
  const socket =
    tlsOptions === undefined
      ? connectTcp({ ...address })
      : connectTls({ ...address, ...serverNameOf(address.host), ...tlsOptions });
  const giveUp = (reason: string): void => {
    socket.destroy(new Error(reason));
  };
  try {
    return await withinAttempt(options, { giveUp }, async () => {
      await untilConnected(socket, tlsOptions === undefined ? 'connect' : 'secureConnect');
      const connection = createMemcachedConnection(socket, options);
      await askVersion(connection);
      return connection;
    });
  } catch (error) {
    socket.destroy();
    throw new Error(toReason(error), { cause: error });
  }
}

function untilConnected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      socket.off('error', settle).off('close', onClose).off(event, onReady);
      // A later error would have no listener and end the process.
      socket.on('error', () => undefined);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onReady = (): void => {
      settle();
    };
    const onClose = (): void => {
      settle(new Error('closed by the server'));
    };
    socket.on('error', settle).on('close', onClose).on(event, onReady);
  });
}

function askVersion(connection: MemcachedConnection): Promise<void> {
  return new Promise((resolve, reject) => {
    const onLine = (line: string): void => {
      if (line.startsWith('VERSION ')) resolve();
      else reject(new Error(`unexpected reply to version: ${toReason({ message: line })}`));
    };
    const onLost = (): void => {
      void connection.retired.then((reason) => {
        reject(new Error(reason));
      });
    };
    connection.send(VERSION, [{ onLine, onLost }]);
  });
}
