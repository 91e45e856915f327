import { tryTake, type TokenBucket } from './budgets';
import {
  CloseReason,
  closeReasonOf,
  rememberClosed,
  findStream,
  listStreams,
  removeStream,
} from './stream-table';
import { Phase, type ConnectionState, type StreamState } from './connection-state';
import { ErrorCode, isServerStream } from './frames';
import { writeGoAway, writeRstStream } from './write-frames';

/** A connection error (RFC 9113 §5.4.1): GOAWAY, every open stream is gone, nothing is read any more. */
export function failConnection(
  connection: ConnectionState,
  errorCode: number,
  reason: string,
  budget?: string,
  cause?: unknown,
): void {
  if (connection.phase === Phase.closed) return;
  connection.failure = { errorCode, reason, budget, cause };
  endConnection(connection, errorCode, reason);
}

/** As `failConnection`, without a `failure`. */
export function endConnection(
  connection: ConnectionState,
  errorCode: number,
  reason: string,
): void {
  if (connection.phase === Phase.closed) return;
  writeGoAway(connection, connection.lastTakenId, errorCode, reason);
  abandonStreams(connection, errorCode === ErrorCode.noError ? ErrorCode.cancel : errorCode);
}

/** Ends the connection on our side and reports every open stream to the owner. */
export function abandonStreams(connection: ConnectionState, errorCode: number): void {
  connection.phase = Phase.closed;
  connection.pendingHeaders = undefined;
  connection.partialLength = 0;
  const streams = listStreams(connection.streams);
  for (const stream of streams) forgetStream(connection, stream, CloseReason.resetByUs);
  for (const stream of streams) connection.events.onReset(stream, errorCode);
}

/**
 * A stream error (RFC 9113 §5.4.2): RST_STREAM, and `onReset` if the owner knew the stream. Charges the peer's budget of
 * provoked resets. An idle stream cannot be reset: the connection ends.
 */
export function failStream(
  connection: ConnectionState,
  streamId: number,
  errorCode: number,
  reason: string,
): void {
  if (streamId > connection.highestSeenId || isServerStream(streamId)) {
    failConnection(connection, errorCode, reason);
    return;
  }
  if (!chargeBudget(connection, connection.buckets.provokedResets)) return;
  const stream = findStream(connection.streams, streamId);
  if (stream === undefined)
    rememberClosed(connection.closedStreams, streamId, CloseReason.resetByUs);
  else forgetStream(connection, stream, CloseReason.resetByUs);
  writeRstStream(connection, streamId, errorCode);
  if (stream !== undefined) connection.events.onReset(stream, errorCode);
}

/** Removes the stream from the open ones and drops what it had queued. */
export function forgetStream(
  connection: ConnectionState,
  stream: StreamState,
  reason: number,
): void {
  stream.closed = true;
  removeStream(connection.streams, stream.id);
  rememberClosed(connection.closedStreams, stream.id, reason);
  dropQueue(connection, stream);
}

export function dropQueue(connection: ConnectionState, stream: StreamState): void {
  if (stream.queued === undefined) return;
  connection.queuedBytes -= stream.queued.bytes;
  connection.waitingForStream.delete(stream);
  connection.waitingForConnection.delete(stream);
  stream.queued = undefined;
}

/**
 * DATA or HEADERS on a closed stream (RFC 9113 §5.1, "closed"): the outcome depends on how it closed. The caller has already
 * updated the state that all streams share: the connection's window and its header table.
 */
export function receiveOnClosed(connection: ConnectionState, streamId: number): void {
  switch (closeReasonOf(connection.closedStreams, streamId)) {
    case CloseReason.neverOpened:
      failConnection(connection, ErrorCode.protocolError, 'a stream id is lower than one before');
      return;
    case CloseReason.ended:
      failConnection(connection, ErrorCode.streamClosed, 'a frame follows the end of its stream');
      return;
    case CloseReason.resetByUs:
      ignoreFrame(connection);
      return;
    default:
      failStream(connection, streamId, ErrorCode.streamClosed, FRAME_AFTER_RESET);
  }
}

const FRAME_AFTER_RESET = 'a frame follows the reset of its stream';

/** Counts a frame that changes nothing. */
export function ignoreFrame(connection: ConnectionState): void {
  chargeBudget(connection, connection.buckets.ignoredFrames);
}

/** Takes `count` from a budget; false: it is spent, and the connection has just ended. */
export function chargeBudget(connection: ConnectionState, bucket: TokenBucket, count = 1): boolean {
  if (tryTake(bucket, connection.nowMs, connection.responseCount, count)) return true;
  const { name } = bucket.budget;
  failConnection(connection, ErrorCode.enhanceYourCalm, `too much of ${name}`, name);
  return false;
}

/** Ends a connection whose queue overflowed while its owner was sending; true if it did. */
export function failOnOverflow(connection: ConnectionState): boolean {
  if (!connection.queueOverflowed) return false;
  const reason = 'too many bytes wait for a window';
  failConnection(connection, ErrorCode.enhanceYourCalm, reason, 'MAX_QUEUED_BYTES');
  return true;
}
