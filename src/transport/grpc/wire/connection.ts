import type { Socket } from 'node:net';
import type { Answer } from '../../../core/ports';
import type { GrpcConnection, GrpcEvents } from '../../../wire/grpc/api';
import { PAUSE_BYTES, MAX_UNREAD_BYTES } from './limits';
import type { Caller, ServedMethod } from './method';

/** What a connection asks of its server. */
export interface ConnectionHost {
  /** Makes the protocol's side. */
  readonly speak: (events: GrpcEvents<ServedMethod>) => GrpcConnection;
  readonly nowMs: () => number;
  /** Around the taking of one socket read. */
  readonly beforeRead: (atMs: number) => void;
  readonly afterRead: (connection: WireConnection) => void;
  readonly answer: (caller: Caller, ticket: number, answer: Answer) => void;
  /** The connection has something to write at the end of this turn. */
  readonly touched: (connection: WireConnection) => void;
  readonly closed: (connection: WireConnection) => void;
}

/** One accepted socket and what is spoken on it. */
export interface WireConnection {
  readonly grpc: GrpcConnection;
  readonly openedAtMs: number;
  /** Since when a write waits for the caller to read; undefined when none does. */
  readonly blockedSinceMs: number | undefined;
  /** When octets came the last time. */
  readonly readAtMs: number;
  /** When we sent FIN; undefined before. */
  readonly endedAtMs: number | undefined;
  /** When the caller sent FIN; undefined before. */
  readonly halfClosedAtMs: number | undefined;
  /** Writes what there is, once per turn; reads no more from a caller who does not read. */
  readonly flush: () => void;
  readonly destroy: () => void;
}

/** Takes over an accepted socket. */
export function createWireConnection(socket: Socket, host: ConnectionHost): WireConnection {
  const openedAtMs = host.nowMs();
  let readAtMs = openedAtMs;
  let blockedSinceMs: number | undefined;
  let endedAtMs: number | undefined;
  let halfClosedAtMs: number | undefined;
  let writing: Uint8Array | undefined;
  let isPaused = false;
  let isTouched = false;

  const touch = () => {
    if (isTouched) return;
    isTouched = true;
    host.touched(connection);
  };
  const grpc = host.speak({
    onMessage(ticket, method, bytes, start, end) {
      method.onMessage(caller, ticket, bytes, start, end);
    },
    onHalfClose(ticket, method) {
      method.onHalfClose(caller, ticket);
    },
    onCancel(ticket, method) {
      method.onCancel(caller, ticket);
    },
  });
  const { http2 } = grpc;
  const caller: Caller = {
    grpc,
    askedAtMs: [],
    touch,
    asker: {
      answer(ticket, answer) {
        host.answer(caller, ticket, answer);
        touch();
      },
    },
  };

  /** The socket holds no octet of ours any more. */
  const onWritten = () => {
    // The writes before may be told of only now.
    if (blockedSinceMs === undefined || socket.writableLength > 0) return;
    blockedSinceMs = undefined;
    if (writing !== undefined) http2.releaseOutput(writing);
    flush();
    readOn();
  };

  const readOn = () => {
    if (!isPaused || blockedSinceMs !== undefined) return;
    isPaused = false;
    socket.resume();
  };

  const write = (piece: Uint8Array) => {
    socket.write(piece, onWritten);
    if (socket.writableLength === 0) http2.releaseOutput(piece);
    else {
      writing = piece;
      blockedSinceMs = host.nowMs();
    }
  };

  const flush = () => {
    isTouched = false;
    if (socket.destroyed || endedAtMs !== undefined) return;
    if (blockedSinceMs !== undefined) {
      waitForReader();
      return;
    }
    const piece = http2.takeOutput();
    if (piece !== undefined) write(piece);
    const isLeaving = halfClosedAtMs !== undefined && http2.isIdle;
    if (http2.wantsClose || isLeaving) {
      endedAtMs = host.nowMs();
      socket.end();
    }
  };

  const waitForReader = () => {
    const unread = http2.pendingOutputBytes + socket.writableLength;
    if (unread > MAX_UNREAD_BYTES) socket.destroy();
    else if (unread > PAUSE_BYTES && !isPaused) {
      isPaused = true;
      socket.pause();
    }
  };

  const connection: WireConnection = {
    grpc,
    openedAtMs,
    get blockedSinceMs() {
      return blockedSinceMs;
    },
    get readAtMs() {
      return readAtMs;
    },
    get endedAtMs() {
      return endedAtMs;
    },
    get halfClosedAtMs() {
      return halfClosedAtMs;
    },
    flush,
    destroy() {
      socket.destroy();
    },
  };

  socket.on('data', (bytes: Buffer) => {
    if (endedAtMs !== undefined) return;
    readAtMs = host.nowMs();
    host.beforeRead(readAtMs);
    grpc.receive(bytes, readAtMs);
    host.afterRead(connection);
  });
  socket.on('end', () => {
    halfClosedAtMs = host.nowMs();
    touch();
  });
  // What went wrong with a socket is the caller's affair; 'close' follows.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    http2.connectionLost();
    host.closed(connection);
  });
  touch();
  return connection;
}
