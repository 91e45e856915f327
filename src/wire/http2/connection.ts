import type {
  Http2Connection,
  Http2Events,
  Http2Failure,
  Http2Options,
  Http2Stream,
  MessageWriter,
} from './api';
import {
  createConnectionState,
  INITIAL_WINDOW_BYTES,
  Phase,
  type ConnectionState,
  type StreamState,
} from './connection-state';
import { finishDrain, sendPing, startDrain } from './drain';
import { ErrorCode } from './error-codes';
import { abandonStreams, endConnection, failConnection, failOverQueue } from './failures';
import { endStalledStreams } from './flow-control';
import { CONNECTION_STREAM } from './frames';
import { relaxOutput, releasePiece, takePiece } from './output';
import { grantTaken } from './receive-data';
import { endSlowFrame, receiveBytes } from './receive';
import { writeSettings, writeWindowUpdate } from './replies';
import { resetStream, sendData, sendHeaders, sendUnary, sendUnaryMessage } from './sending';
import { encodeSettings } from './settings';

export const DEFAULT_HTTP2_OPTIONS: Http2Options = {
  maxConcurrentStreams: 1024,
  streamWindowBytes: 262_144,
  connectionWindowBytes: 1_048_576,
  maxHeaderListBytes: 16_384,
  headerTableBytes: 4096,
  cacheHeaderBlocks: true,
  headerReader: undefined,
};

/** A connection that has just been accepted. Our SETTINGS wait in `takeOutput` at once. */
export function createHttp2Connection<S>(
  events: Http2Events<S>,
  options: Partial<Http2Options> = {},
): Http2Connection<S> {
  const state = createConnectionState(events, { ...DEFAULT_HTTP2_OPTIONS, ...options });
  greet(state);
  return new Connection(state);
}

/**
 * A class where there are thousands of one kind: an object literal with getters gets a shape of its own each time, so
 * that code which meets more than four connections would look every property up by its name.
 */
class Connection<S> implements Http2Connection<S> {
  readonly #state: ConnectionState<S>;

  constructor(state: ConnectionState<S>) {
    this.#state = state;
  }

  receive(bytes: Uint8Array, nowMs: number): void {
    const state = this.#state;
    setTime(state, nowMs);
    try {
      if (!failOverQueue(state)) receiveBytes(state, bytes);
    } catch (cause) {
      failInside(state, cause);
    }
  }

  tick(nowMs: number): void {
    const state = this.#state;
    setTime(state, nowMs);
    try {
      if (!failOverQueue(state)) endStalledStreams(state);
      endSlowFrame(state);
    } catch (cause) {
      failInside(state, cause);
    }
    relaxOutput(state.output);
  }

  connectionLost(): void {
    if (this.#state.phase !== Phase.closed) abandonStreams(this.#state, ErrorCode.cancel);
  }

  sendHeaders(stream: Http2Stream<S>, block: Uint8Array, endStream: boolean): void {
    sendHeaders(this.#state, own(stream), block, endStream);
  }

  sendData(stream: Http2Stream<S>, bytes: Uint8Array, endStream: boolean): void {
    sendData(this.#state, own(stream), bytes, endStream);
  }

  sendUnary(
    stream: Http2Stream<S>,
    headersBlock: Uint8Array,
    data: Uint8Array,
    trailersBlock: Uint8Array,
  ): void {
    sendUnary(this.#state, own(stream), headersBlock, data, trailersBlock);
  }

  sendUnaryMessage<M>(
    stream: Http2Stream<S>,
    headersBlock: Uint8Array,
    message: M,
    maxBytes: number,
    write: MessageWriter<M>,
    trailersBlock: Uint8Array,
  ): void {
    const state = this.#state;
    sendUnaryMessage(state, own(stream), headersBlock, message, maxBytes, write, trailersBlock);
  }

  reset(stream: Http2Stream<S>, errorCode: number): void {
    resetStream(this.#state, own(stream), errorCode);
  }

  queuedBytes(stream: Http2Stream<S>): number {
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
    grantTaken(this.#state);
    return takePiece(this.#state.output);
  }

  releaseOutput(piece: Uint8Array): void {
    releasePiece(this.#state.output, piece);
  }

  get pendingOutputBytes(): number {
    const { output } = this.#state;
    return output.end - output.start;
  }

  get queuedAnswerBytes(): number {
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
function greet<S>(connection: ConnectionState<S>): void {
  writeSettings(connection, encodeSettings(connection.options));
  const wider = connection.options.connectionWindowBytes - INITIAL_WINDOW_BYTES;
  if (wider > 0) writeWindowUpdate(connection, CONNECTION_STREAM, wider);
}

/** The owner's streams are all of our making. */
function own<S>(stream: Http2Stream<S>): StreamState<S> {
  return stream as StreamState<S>;
}

function setTime<S>(connection: ConnectionState<S>, nowMs: number): void {
  connection.startMs ??= nowMs;
  connection.nowMs = Math.floor(nowMs - connection.startMs);
}

/** An event of the owner threw (or we are wrong): this connection cannot go on, the others can. */
function failInside<S>(connection: ConnectionState<S>, cause: unknown): void {
  try {
    const reason = 'an internal error';
    failConnection(connection, ErrorCode.internalError, reason, undefined, cause);
  } catch {
    // The same owner, told of the end, threw again; the first cause is the one to know.
  }
}
