import { spend, type Allowance } from './budgets';
import { Ending, rememberEnding } from './closed-streams';
import { Phase, type ConnectionState, type StreamState } from './connection-state';
import { ErrorCode } from './error-codes';
import { isServerStream } from './frames';
import { writeGoAway, writeRstStream } from './replies';
import { findStream, listStreams, removeStream } from './stream-table';

/** A connection error (RFC 9113 §5.4.1): GOAWAY, every open stream is gone, nothing is read any more. */
export function failConnection<S>(
  connection: ConnectionState<S>,
  errorCode: number,
  reason: string,
  budget?: string,
  cause?: unknown,
): void {
  if (connection.phase === Phase.closed) return;
  connection.failure = { errorCode, reason, budget, cause };
  endConnection(connection, errorCode, reason);
}

/** The same without calling it a failure. */
export function endConnection<S>(
  connection: ConnectionState<S>,
  errorCode: number,
  reason: string,
): void {
  if (connection.phase === Phase.closed) return;
  writeGoAway(connection, connection.lastTakenId, errorCode, reason);
  abandonStreams(connection, errorCode === ErrorCode.noError ? ErrorCode.cancel : errorCode);
}

/** Ends the connection on our side; the owner hears of every stream that was open. */
export function abandonStreams<S>(connection: ConnectionState<S>, errorCode: number): void {
  connection.phase = Phase.closed;
  connection.openBlock = undefined;
  connection.tailLength = 0;
  const streams = listStreams(connection.streams);
  for (const stream of streams) forgetStream(connection, stream, Ending.resetByUs);
  for (const stream of streams) connection.events.onReset(stream, errorCode);
}

/**
 * A stream error (RFC 9113 §5.4.2): RST_STREAM, and the owner hears of it if it knew the stream. Costs the peer of
 * its budget, since it made us do this. An idle stream cannot be reset, so that the connection ends.
 */
export function failStream<S>(
  connection: ConnectionState<S>,
  streamId: number,
  errorCode: number,
  reason: string,
): void {
  if (streamId > connection.highestSeenId || isServerStream(streamId)) {
    failConnection(connection, errorCode, reason);
    return;
  }
  if (!allow(connection, connection.allowances.provokedResets)) return;
  const stream = findStream(connection.streams, streamId);
  if (stream === undefined) rememberEnding(connection.closedStreams, streamId, Ending.resetByUs);
  else forgetStream(connection, stream, Ending.resetByUs);
  writeRstStream(connection, streamId, errorCode);
  if (stream !== undefined) connection.events.onReset(stream, errorCode);
}

/** Takes the stream from the open ones, with what it had queued. */
export function forgetStream<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  ending: number,
): void {
  stream.closed = true;
  removeStream(connection.streams, stream.id);
  rememberEnding(connection.closedStreams, stream.id, ending);
  dropQueue(connection, stream);
}

export function dropQueue<S>(connection: ConnectionState<S>, stream: StreamState<S>): void {
  if (stream.queued === undefined) return;
  connection.queuedBytes -= stream.queued.bytes;
  connection.waitingForStream.delete(stream);
  connection.waitingForConnection.delete(stream);
  stream.queued = undefined;
}

/** Takes `count` of a budget; false says that the connection has just ended over it. */
export function allow<S>(connection: ConnectionState<S>, allowance: Allowance, count = 1): boolean {
  if (spend(allowance, connection.nowMs, connection.answerCount, count)) return true;
  const { name } = allowance.budget;
  failConnection(connection, ErrorCode.enhanceYourCalm, `too much of ${name}`, name);
  return false;
}

/** True when more was to be queued than may be: the owner, which was sending then, hears of it now. */
export function failOverQueue<S>(connection: ConnectionState<S>): boolean {
  if (!connection.queueOverflown) return false;
  const reason = 'too many octets wait for a window';
  failConnection(connection, ErrorCode.enhanceYourCalm, reason, 'MAX_QUEUED_BYTES');
  return true;
}
