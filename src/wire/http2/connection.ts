import { forgetChunk } from '../bytes';
import type {
  Http2Connection,
  Http2Events,
  Http2Failure,
  Http2Options,
  Http2Stream,
  MessageEncoder,
  UnaryBlocks,
} from './api';
import {
  createConnectionState,
  INITIAL_WINDOW_BYTES,
  Phase,
  type ConnectionState,
  type StreamState,
} from './connection-state';
import { finishDrain, sendPing, startDrain } from './drain';
import { abandonStreams, endConnection, failConnection, failOnOverflow } from './errors';
import { endStalledStreams } from './flow-control';
import { CONNECTION_STREAM, ErrorCode } from './frames';
import { recycle, shrink, takeChunk } from './output';
import { endSlowFrame, receiveBytes } from './receive';
import { applyWindowUpdates } from './receive-data';
import { resetStream, sendData, sendHeaders, sendUnary } from './send';
import { encodeSettings } from './settings';
import { writeSettings, writeWindowUpdate } from './write-frames';

export const DEFAULT_HTTP2_OPTIONS: Http2Options = {
  maxConcurrentStreams: 1024,
  streamWindowBytes: 262_144,
  connectionWindowBytes: 1_048_576,
  maxHeaderListBytes: 16_384,
  headerTableBytes: 4096,
  cacheHeaderBlocks: true,
  headerReader: undefined,
};

/** A new connection, with our SETTINGS already in its output. */
export function createHttp2Connection(
  events: Http2Events,
  options: Partial<Http2Options> = {},
): Http2Connection {
  const state = createConnectionState(events, { ...DEFAULT_HTTP2_OPTIONS, ...options });
  sendPreface(state);
  return new Connection(state);
}

/**
 * A class, as there are thousands of them: each object literal with getters gets a hidden class of its own, so that code
 * which meets more than four connections would look up every property by its name.
 */
class Connection implements Http2Connection {
  readonly #state: ConnectionState;

  constructor(state: ConnectionState) {
    this.#state = state;
  }

  receive(bytes: Uint8Array, nowMs: number): void {
    const state = this.#state;
    setTime(state, nowMs);
    try {
      if (!failOnOverflow(state)) receiveBytes(state, bytes);
    } catch (cause) {
      failInside(state, cause);
    }
    forgetChunk();
  }

  tick(nowMs: number): void {
    const state = this.#state;
    setTime(state, nowMs);
    try {
      if (!failOnOverflow(state)) endStalledStreams(state);
      endSlowFrame(state);
    } catch (cause) {
      failInside(state, cause);
    }
    shrink(state.output);
  }

  connectionLost(): void {
    if (this.#state.phase !== Phase.closed) abandonStreams(this.#state, ErrorCode.cancel);
  }

  sendHeaders(stream: Http2Stream, block: Uint8Array, endStream: boolean): void {
    sendHeaders(this.#state, own(stream), block, endStream);
  }

  sendData(stream: Http2Stream, bytes: Uint8Array, endStream: boolean): void {
    sendData(this.#state, own(stream), bytes, endStream);
  }

  sendUnary<M>(
    stream: Http2Stream,
    blocks: UnaryBlocks,
    message: M,
    encoder: MessageEncoder<M>,
  ): void {
    sendUnary(this.#state, own(stream), blocks, message, encoder);
  }

  reset(stream: Http2Stream, errorCode: number): void {
    resetStream(this.#state, own(stream), errorCode);
  }

  queuedBytes(stream: Http2Stream): number {
    return own(stream).queued?.bytes ?? 0;
  }

  ping(opaque: number): void {
    sendPing(this.#state, opaque);
  }

  goAway(errorCode: number, reason: string): void {
    endConnection(this.#state, errorCode, reason);
  }

  startDrain(reason: string): void {
    startDrain(this.#state, reason);
  }

  finishDrain(): void {
    finishDrain(this.#state);
  }

  takeOutput(): Uint8Array | undefined {
    this.#state.waitingReplies = 0;
    applyWindowUpdates(this.#state);
    return takeChunk(this.#state.output);
  }

  releaseOutput(piece: Uint8Array): void {
    recycle(this.#state.output, piece);
  }

  get pendingOutputBytes(): number {
    const { output } = this.#state;
    return output.end - output.start;
  }

  get queuedResponseBytes(): number {
    return this.#state.queuedBytes;
  }

  get wantsClose(): boolean {
    const { lastGoAwaySent, streams, phase } = this.#state;
    return (lastGoAwaySent && streams.count === 0) || phase === Phase.closed;
  }

  get failure(): Http2Failure | undefined {
    return this.#state.failure;
  }

  get openStreams(): number {
    return this.#state.streams.count;
  }

  get isIdle(): boolean {
    return this.openStreams === 0 && this.pendingOutputBytes === 0;
  }

  get prefaceReceived(): boolean {
    return this.#state.prefaceReceived;
  }

  get settingsAcked(): boolean {
    return this.#state.settingsAcked;
  }

  get draining(): boolean {
    return this.#state.draining;
  }

  get peerLeaving(): boolean {
    return this.#state.peerLeaving;
  }

  get requestCount(): number {
    return this.#state.requestCount;
  }
}

/** Our preface: SETTINGS, and the connection's window, which SETTINGS cannot widen (RFC 9113 §3.4, §6.9.2). */
function sendPreface(connection: ConnectionState): void {
  writeSettings(connection, encodeSettings(connection.options));
  const wider = connection.options.connectionWindowBytes - INITIAL_WINDOW_BYTES;
  if (wider > 0) writeWindowUpdate(connection, CONNECTION_STREAM, wider);
}

/** All streams of the owner were created here. */
function own(stream: Http2Stream): StreamState {
  return stream as StreamState;
}

function setTime(connection: ConnectionState, nowMs: number): void {
  connection.startMs ??= nowMs;
  connection.nowMs = Math.floor(nowMs - connection.startMs);
}

/** An event handler of the owner threw (or we have a bug): ends this connection only. */
function failInside(connection: ConnectionState, cause: unknown): void {
  try {
    const reason = 'an internal error';
    failConnection(connection, ErrorCode.internalError, reason, undefined, cause);
  } catch {
    // The handler of the end threw too; the first cause matters.
  }
}
