import type { Http2Connection, Http2Events, Http2Options, Http2Stream } from './api';
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
  readNames: undefined,
  standIn: undefined,
};

/** A connection that has just been accepted. Our SETTINGS wait in `takeOutput` at once. */
export function createHttp2Connection<S>(
  events: Http2Events<S>,
  options: Partial<Http2Options> = {},
): Http2Connection<S> {
  const connection = createConnectionState(events, { ...DEFAULT_HTTP2_OPTIONS, ...options });
  greet(connection);
  return {
    ...inputOf(connection),
    ...answersOf(connection),
    ...farewellsOf(connection),
    takeOutput: () => {
      connection.waitingReplies = 0;
      grantTaken(connection);
      return takePiece(connection.output);
    },
    releaseOutput: (piece) => {
      releasePiece(connection.output, piece);
    },
    get pendingOutputBytes() {
      return connection.output.end - connection.output.start;
    },
    get queuedAnswerBytes() {
      return connection.queuedBytes;
    },
    get wantsClose() {
      const drained = connection.lastGoAwaySent && connection.streams.count === 0;
      return drained || connection.phase === Phase.closed;
    },
    get failure() {
      return connection.failure;
    },
    get openStreams() {
      return connection.streams.count;
    },
    get isIdle() {
      return connection.streams.count === 0 && connection.output.start === connection.output.end;
    },
    get prefaceReceived() {
      return connection.prefaceReceived;
    },
    get settingsAcked() {
      return connection.settingsAcked;
    },
    get draining() {
      return connection.draining;
    },
    get peerLeaving() {
      return connection.peerLeaving;
    },
    get requestCount() {
      return connection.requestCount;
    },
  };
}

/** Our preface: SETTINGS, and the connection's window, which SETTINGS cannot widen (RFC 9113 §3.4, §6.9.2). */
function greet<S>(connection: ConnectionState<S>): void {
  writeSettings(connection, encodeSettings(connection.options));
  const wider = connection.options.connectionWindowBytes - INITIAL_WINDOW_BYTES;
  if (wider > 0) writeWindowUpdate(connection, CONNECTION_STREAM, wider);
}

type Input = 'receive' | 'tick' | 'connectionLost';

function inputOf<S>(connection: ConnectionState<S>): Pick<Http2Connection<S>, Input> {
  return {
    receive: (bytes, nowMs) => {
      setTime(connection, nowMs);
      try {
        if (!failOverQueue(connection)) receiveBytes(connection, bytes);
      } catch (cause) {
        failInside(connection, cause);
      }
    },
    tick: (nowMs) => {
      setTime(connection, nowMs);
      try {
        if (!failOverQueue(connection)) endStalledStreams(connection);
        endSlowFrame(connection);
      } catch (cause) {
        failInside(connection, cause);
      }
      relaxOutput(connection.output);
    },
    connectionLost: () => {
      if (connection.phase !== Phase.closed) abandonStreams(connection, ErrorCode.cancel);
    },
  };
}

function answersOf<S>(
  connection: ConnectionState<S>,
): Pick<
  Http2Connection<S>,
  'sendHeaders' | 'sendData' | 'sendUnary' | 'sendUnaryMessage' | 'reset' | 'queuedBytes'
> {
  return {
    sendHeaders: (stream, block, endStream) => {
      sendHeaders(connection, own(stream), block, endStream);
    },
    sendData: (stream, bytes, endStream) => {
      sendData(connection, own(stream), bytes, endStream);
    },
    sendUnary: (stream, headersBlock, data, trailersBlock) => {
      sendUnary(connection, own(stream), headersBlock, data, trailersBlock);
    },
    sendUnaryMessage: (stream, headersBlock, message, maxBytes, write, trailersBlock) => {
      sendUnaryMessage(
        connection,
        own(stream),
        headersBlock,
        message,
        maxBytes,
        write,
        trailersBlock,
      );
    },
    reset: (stream, errorCode) => {
      resetStream(connection, own(stream), errorCode);
    },
    queuedBytes: (stream) => own(stream).queued?.bytes ?? 0,
  };
}

function farewellsOf<S>(
  connection: ConnectionState<S>,
): Pick<Http2Connection<S>, 'ping' | 'goAway' | 'startDrain' | 'finishDrain'> {
  return {
    ping: (opaque) => {
      sendPing(connection, opaque);
    },
    goAway: (errorCode, reason) => {
      endConnection(connection, errorCode, reason);
    },
    startDrain: (reason) => {
      startDrain(connection, reason);
    },
    finishDrain: () => {
      finishDrain(connection);
    },
  };
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
