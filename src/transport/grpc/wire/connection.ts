import type { Socket } from 'node:net';
import type { Answer, Responder } from '../../../core/ports';
import type { ByteBudget, ByteHolder } from '../../../platform/byte-budget';
import type { GrpcConnection, GrpcMethod } from '../../../wire/grpc/api';

/** A connection as method handlers see it. */
export interface Client {
  readonly grpc: GrpcConnection;
  /** Receives the decisions about this connection's requests; the call id is the call's. */
  readonly responder: Responder;
  /** When each call arrived, by call id. */
  readonly askedAtMs: number[];
  /** Calls that were cancelled before their deadline, until they end. */
  readonly left: Set<number>;
  /** Call it after sending outside of a socket read: the output is written at the end of the turn. */
  scheduleFlush(): void;
}

export type MethodHandler = GrpcMethod<Client>;

/** For an event that has no meaning for a method. */
export function ignore(): void {
  // Nothing.
}

/** Closes a connection whose client has not sent the preface and SETTINGS by then (slow preface; idle port scanners). */
export const PREFACE_MS = 10_000;
/** SETTINGS_TIMEOUT (RFC 9113 §6.5.3): time for a client to acknowledge our SETTINGS. */
export const SETTINGS_ACK_MS = 20_000;
/** Silence after which a PING asks whether the client is still there (half-open connections). */
export const KEEPALIVE_MS = 60_000;
/** Silence after the PING at which the connection is closed. */
export const KEEPALIVE_TIMEOUT_MS = 20_000;
/** Time for a client that has closed its side to get its answers. */
export const HALF_CLOSED_MS = 10_000;
/** From our FIN to the close: time for the client to read what is on the way. */
export const LINGER_MS = 1_000;
/** Wait of a drain for the answer to its PING before it names the last stream regardless. */
export const DRAIN_PING_MS = 1_000;

/** Unread response bytes at which we stop reading requests from this connection. */
export const PAUSE_BYTES = 262_144;
/** Unread response bytes at which it is closed: open calls may still add to them after the pause. */
export const MAX_UNREAD_BYTES = 16_777_216;
/** Wait of a write after which the client counts as not reading at all. */
export const BLOCKED_MS = 30_000;

/** Interval of the checks of all connections. */
export const CHECK_MS = 250;
/** Precision of the deadlines of calls, so that one timer serves all. */
export const DEADLINE_STEP_MS = 5;

/** What a connection needs from its server. */
export interface ConnectionHost {
  readonly createProtocol: (client: Client) => GrpcConnection;
  readonly nowMs: () => number;
  /** Bytes that all connections together may hold. */
  readonly budget: ByteBudget;
  /** Called before and after a socket read is handled. */
  readonly beforeRead: (atMs: number) => void;
  readonly afterRead: (connection: WireConnection) => void;
  readonly answer: (client: Client, callId: number, answer: Answer) => boolean;
  /** Flushes the connection at the end of this turn. */
  readonly flushSoon: (connection: WireConnection) => void;
  /** Flushes it after the I/O of this turn, so that other connections get their turn. */
  readonly flushLater: (connection: WireConnection) => void;
  readonly closed: (connection: WireConnection) => void;
}

/** One accepted socket and its protocol. A class for the same reason as the engine's connections (wire/http2/connection.ts). */
export class WireConnection implements Client, Responder, ByteHolder {
  readonly grpc: GrpcConnection;
  readonly openedAtMs: number;
  readonly askedAtMs: number[] = [];
  readonly left = new Set<number>();
  /** Time of the last read. */
  readAtMs: number;
  /** Since when a write is blocked by a client that does not read; undefined when none is. */
  blockedSinceMs: number | undefined = undefined;
  /** When we sent FIN; undefined before. */
  endedAtMs: number | undefined = undefined;
  /** When the client sent FIN; undefined before. */
  halfClosedAtMs: number | undefined = undefined;
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  #writing: Uint8Array | undefined = undefined;
  #isPaused = false;
  #isFlushScheduled = false;
  heldBytes = 0;

  /** Takes over an accepted socket. */
  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    this.openedAtMs = host.nowMs();
    this.readAtMs = this.openedAtMs;
    this.grpc = host.createProtocol(this);
    this.#listen();
    this.scheduleFlush();
  }

  get responder(): Responder {
    return this;
  }

  scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    this.#host.flushSoon(this);
  }

  answer(callId: number, answer: Answer): boolean {
    const isTaken = this.#host.answer(this, callId, answer);
    this.scheduleFlush();
    return isTaken;
  }

  /** A client that has closed its side has left, although its decisions are still written. */
  hasLeft(callId: number): boolean {
    return this.halfClosedAtMs !== undefined || this.left.has(callId);
  }

  /** Writes the pending output, once per turn; stops reading from a client that does not read. */
  flush(): void {
    this.#isFlushScheduled = false;
    if (this.#socket.destroyed || this.endedAtMs !== undefined) return;
    if (this.blockedSinceMs === undefined) this.#writeOut();
    else this.#waitForReader();
    this.#report();
  }

  #writeOut(): void {
    const { grpc } = this;
    const { http2 } = grpc;
    const piece = http2.takeOutput();
    if (piece !== undefined) this.#write(piece);
    if (this.blockedSinceMs === undefined) grpc.readOn();
    if (http2.pendingOutputBytes > 0) {
      this.#host.flushLater(this);
      return;
    }
    const isLeaving = this.halfClosedAtMs !== undefined && http2.isIdle;
    if (http2.wantsClose || isLeaving) {
      this.endedAtMs = this.#host.nowMs();
      this.#socket.end();
    }
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Called when the budget of all connections is spent, and none holds more than this one. */
  end(): void {
    this.destroy();
  }

  #report(): void {
    const bytes = this.#socket.destroyed ? 0 : this.grpc.heldBytes + this.#socket.writableLength;
    this.#host.budget.report(this, bytes);
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('data', (bytes: Buffer) => {
      this.#read(bytes);
    });
    socket.on('end', () => {
      this.halfClosedAtMs = this.#host.nowMs();
      this.scheduleFlush();
    });
    // A socket error needs no handling of its own: 'close' follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.grpc.http2.connectionLost();
      this.#report();
      this.#host.closed(this);
    });
  }

  #read(bytes: Buffer): void {
    if (this.endedAtMs !== undefined) return;
    this.readAtMs = this.#host.nowMs();
    this.#host.beforeRead(this.readAtMs);
    this.grpc.receive(bytes, this.readAtMs, this.#host.budget.isSpent);
    this.#host.afterRead(this);
    this.#report();
  }

  #write(piece: Uint8Array): void {
    this.#socket.write(piece, this.#onWritten);
    if (this.#socket.writableLength === 0) this.grpc.http2.releaseOutput(piece);
    else {
      this.#writing = piece;
      this.blockedSinceMs = this.#host.nowMs();
    }
  }

  /** The socket has no more bytes of ours. */
  readonly #onWritten = (): void => {
    // The callbacks of earlier writes may only run now.
    if (this.blockedSinceMs === undefined || this.#socket.writableLength > 0) return;
    this.blockedSinceMs = undefined;
    if (this.#writing !== undefined) this.grpc.http2.releaseOutput(this.#writing);
    this.flush();
    this.#readOn();
  };

  #waitForReader(): void {
    const unread = this.grpc.http2.pendingOutputBytes + this.#socket.writableLength;
    if (unread > MAX_UNREAD_BYTES) this.destroy();
    else if (unread > PAUSE_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#socket.pause();
    }
  }

  #readOn(): void {
    if (!this.#isPaused || this.blockedSinceMs !== undefined) return;
    this.#isPaused = false;
    this.#socket.resume();
  }
}
