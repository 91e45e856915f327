import type { Socket } from 'node:net';
import type { Random } from '../../../core/ports';
import { createRejectionBlocks } from '../../../wire/grpc/responses';
import { createGrpcConnection } from '../../../wire/grpc/connection';
import type { ByteBudget } from '../../../platform/byte-budget';
import type { Http2Failure } from '../../../wire/http2/api';
import type { UnpackBounds } from '../../../wire/unpacked-limit';
import {
  WireConnection,
  type ConnectionHost,
  CHECK_MS,
  DEADLINE_STEP_MS,
  type MethodHandler,
} from './connection';
import type { DecisionMethod } from './should-rate-limit';
import {
  createConnectionMonitor,
  type AgePolicy,
  type ConnectionMonitor,
} from './connection-monitor';
import { gunzipSync } from 'node:zlib';
import type { Inflate } from '../../../wire/grpc/inflate';

interface ConnectionsDeps {
  readonly methods: ReadonlyMap<string, MethodHandler>;
  readonly decisions: DecisionMethod;
  readonly bounds: UnpackBounds;
  readonly nowMs: () => number;
  readonly random: Random;
  /** Bytes that all connections together may hold. */
  readonly budget: ByteBudget;
  readonly onFailure: (failure: Http2Failure) => void;
}

const STOPPING = 'graceful_stop';
const REBALANCING = 'rebalance';

/** All connections of the port: one timer, one end of turn. */
export function createConnections(deps: ConnectionsDeps, age: AgePolicy) {
  const { methods, decisions, bounds, nowMs, random, budget, onFailure } = deps;
  const { createCallContext, headerReader } = decisions;
  const open = new Map<WireConnection, ConnectionMonitor>();
  const rejectionBlock = createRejectionBlocks();
  let checkTimer: NodeJS.Timeout | undefined;
  let onEmpty: (() => void) | undefined;
  let isClosing = false;

  const endOfTurn = createEndOfTurn<WireConnection>((connections) => {
    for (const connection of connections) connection.flush();
    decisions.reportTimes();
  });

  const deadlines = createDeadlineTimer(nowMs, (now) => {
    let nextMs = Infinity;
    for (const connection of open.keys()) {
      const { grpc } = connection;
      grpc.expire(now);
      if (grpc.http2.pendingOutputBytes > 0) endOfTurn.soon(connection);
      nextMs = Math.min(nextMs, grpc.nextDeadlineMs);
    }
    return nextMs;
  });

  const checkAll = () => {
    const now = nowMs();
    for (const each of open.values()) each.check(now);
    decisions.reportTimes();
  };

  const host: ConnectionHost = {
    nowMs,
    budget,
    createProtocol: (client) =>
      createGrpcConnection({
        methods,
        inflate,
        bounds,
        rejectionBlock,
        client,
        createCallContext,
        headerReader,
      }),
    beforeRead: decisions.begin,
    afterRead(connection) {
      decisions.emitBatch();
      const { grpc, readAtMs } = connection;
      deadlines.atLatest(grpc.nextDeadlineMs, readAtMs);
      if (grpc.http2.pendingOutputBytes > 0 || grpc.http2.wantsClose) endOfTurn.later(connection);
    },
    answer: decisions.answer,
    flushSoon: endOfTurn.soon,
    flushLater: endOfTurn.later,
    closed(connection) {
      open.delete(connection);
      decisions.reportTimes();
      const { failure } = connection.grpc.http2;
      if (failure !== undefined) onFailure(failure);
      if (open.size > 0) return;
      clearInterval(checkTimer);
      checkTimer = undefined;
      deadlines.stop();
      onEmpty?.();
    },
  };

  /** Connections not asked to leave, oldest first. */
  const staying = () => [...open.keys()].filter(({ grpc }) => !grpc.http2.draining);

  const emptied = () =>
    new Promise<void>((resolve) => {
      onEmpty = resolve;
      if (open.size === 0) resolve();
    });

  return {
    accept: (socket: Socket) => {
      const connection = new WireConnection(socket, host);
      const monitor = createConnectionMonitor(connection, age, random);
      open.set(connection, monitor);
      // A handshake that was in progress when the stop began.
      if (isClosing) monitor.drain(nowMs(), STOPPING);
      checkTimer ??= setInterval(checkAll, CHECK_MS).unref();
    },
    /** Number of connections not asked to leave. */
    countStaying: () => staying().length,
    /** Asks the youngest to leave until `count` stay. */
    keepOldest(count: number) {
      const now = nowMs();
      for (const each of staying().slice(count)) open.get(each)?.drain(now, REBALANCING);
    },
    /** Asks all clients to leave and settles when they are gone; destroys those still open `withinMs` later. */
    async close(withinMs: number) {
      isClosing = true;
      const now = nowMs();
      for (const each of open.values()) each.drain(now, STOPPING);
      const cut = setTimeout(() => {
        for (const connection of open.keys()) connection.destroy();
      }, withinMs);
      await emptied();
      clearTimeout(cut);
    },
  };
}

/** One timer for the deadlines of all calls. `expire` ends expired calls and returns the next deadline, Infinity when there is none. */
function createDeadlineTimer(nowMs: () => number, expire: (nowMs: number) => number) {
  let wakesAtMs = Infinity;
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    wakesAtMs = Infinity;
  };
  const wake = () => {
    const now = nowMs();
    wakesAtMs = Infinity;
    atLatest(expire(now), now);
  };
  const atLatest = (deadlineMs: number, now: number) => {
    if (deadlineMs >= wakesAtMs) return;
    clearTimeout(timer);
    const delayMs = Math.max(DEADLINE_STEP_MS, Math.ceil(deadlineMs - now));
    wakesAtMs = now + delayMs;
    // A delay beyond a timer's maximum only wakes too early.
    timer = setTimeout(wake, Math.min(delayMs, 0x7fff_ffff)).unref();
  };
  return {
    /** A deadline that may be the next one. Cheap when it is not. */
    atLatest,
    stop,
  };
}

/** gzip by zlib, which stops at the bound. Messages are small: a trip to the thread pool would cost more. */
export const inflate: Inflate = (packed, maxBytes) => {
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : undefined;
  }
};

/** Runs once at the end of the current turn, with all items that were added in it. */
function createEndOfTurn<T>(run: (items: Iterable<T>) => void) {
  // Two sets take turns, so that a turn allocates nothing.
  let items = new Set<T>();
  let spare = new Set<T>();
  let isSoon = false;
  let isLater = false;
  const runAll = () => {
    isSoon = false;
    if (items.size === 0) return;
    const all = items;
    items = spare;
    spare = all;
    run(all);
    all.clear();
  };
  const runLater = () => {
    isLater = false;
    runAll();
  };
  return {
    /** After the currently running callbacks: for answers, which came all together. */
    soon: (item: T) => {
      items.add(item);
      if (isSoon) return;
      isSoon = true;
      process.nextTick(runAll);
    },
    /** After the I/O of this turn: for output that may wait for this turn's answers. */
    later: (item: T) => {
      items.add(item);
      if (isSoon || isLater) return;
      isLater = true;
      setImmediate(runLater);
    },
  };
}
