import type { Socket } from 'node:net';
import type { Random } from '../../../core/ports';
import { createRejectionBlocks } from '../../../wire/grpc/responses';
import { createGrpcConnection } from '../../../wire/grpc/connection';
import type { ByteBudget } from '../../../platform/byte-budget';
import type { Http2Failure } from '../../../wire/http2/api';
import type { UnpackBounds } from '../../../wire/unpacked-limit';
import { createWireConnection, type ConnectionHost, type WireConnection } from './connection';
import { createDeadlineTimer } from './deadlines';
import type { DecisionMethod } from './should-rate-limit';
import { inflate } from './inflate';
import { CHECK_MS } from './limits';
import type { MethodHandler } from './method-handler';
import { createEndOfTurn } from './turn';
import {
  createConnectionMonitor,
  type AgePolicy,
  type ConnectionMonitor,
} from './connection-monitor';

interface ConnectionsDeps {
  readonly methods: ReadonlyMap<string, MethodHandler>;
  readonly decisions: DecisionMethod;
  readonly bounds: UnpackBounds;
  readonly nowMs: () => number;
  readonly random: Random;
  /** Bytes that all connections may hold together. */
  readonly budget: ByteBudget;
  /** A connection ended in an error. */
  readonly onFailure: (failure: Http2Failure) => void;
}

/** All connections of the port: one timer, one end of turn. */
export interface Connections {
  readonly accept: (socket: Socket) => void;
  /** How many were not asked to leave. */
  countStaying(): number;
  /** Asks the youngest to leave until so many stay. */
  keepOldest(count: number): void;
  /** Asks all clients to leave and settles when they are gone; destroys those still open `withinMs` later. */
  close(withinMs: number): Promise<void>;
}

const STOPPING = 'graceful_stop';
const REBALANCING = 'rebalance';

export function createConnections(deps: ConnectionsDeps, age: AgePolicy): Connections {
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
    createProtocol: (events) =>
      createGrpcConnection({
        methods,
        inflate,
        bounds,
        rejectionBlock,
        events,
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

  /** Oldest first. */
  const staying = () => [...open.keys()].filter(({ grpc }) => !grpc.http2.draining);

  const emptied = () =>
    new Promise<void>((resolve) => {
      onEmpty = resolve;
      if (open.size === 0) resolve();
    });

  return {
    accept(socket) {
      const connection = createWireConnection(socket, host);
      const monitor = createConnectionMonitor(connection, age, random);
      open.set(connection, monitor);
      // A handshake that was under way when we began to stop.
      if (isClosing) monitor.drain(nowMs(), STOPPING);
      checkTimer ??= setInterval(checkAll, CHECK_MS).unref();
    },
    countStaying: () => staying().length,
    keepOldest(count) {
      const now = nowMs();
      for (const each of staying().slice(count)) open.get(each)?.drain(now, REBALANCING);
    },
    async close(withinMs) {
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
