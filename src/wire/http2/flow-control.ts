import { copyBytes } from '../bytes';
import { MAX_QUEUED_BYTES, STALL_MS } from './budgets';
import { CloseReason, someStream } from './stream-table';
import { MAX_WINDOW_BYTES, type ConnectionState, type StreamState } from './connection-state';
import { dropQueue, failConnection, failStream, forgetStream } from './errors';
import { ErrorCode } from './frames';
import { streamWindowOf, writeData, writeHeaders, writeRstStream } from './write-frames';

/** Sending under the peer's windows (RFC 9113 §5.2, §6.9): the excess is queued per stream. */

/** Sends what the windows allow of `bytes`, and queues a copy of the rest. */
export function sendOrQueue(
  connection: ConnectionState,
  stream: StreamState,
  bytes: Uint8Array,
  endStream: boolean,
): void {
  const sent = stream.queued === undefined ? writeData(connection, stream, bytes, 0, endStream) : 0;
  if (sent < bytes.length) queueData(connection, stream, copyBytes(bytes, sent, bytes.length));
  if (stream.queued !== undefined) stream.queued.endsWithData = endStream;
  else if (endStream && !connection.queueOverflowed) finishResponse(connection, stream);
}

function queueData(connection: ConnectionState, stream: StreamState, rest: Uint8Array): void {
  if (connection.queuedBytes + rest.length > MAX_QUEUED_BYTES) {
    // Ends the connection at the next `receive` or `tick`: the owner gets no events while it sends.
    connection.queueOverflowed = true;
    return;
  }
  connection.queuedBytes += rest.length;
  if (stream.queued === undefined) {
    stream.queued = {
      pieces: [rest],
      at: 0,
      bytes: rest.length,
      trailers: undefined,
      endsWithData: false,
      sinceMs: connection.nowMs,
    };
    park(connection, stream);
  } else {
    stream.queued.pieces.push(rest);
    stream.queued.bytes += rest.length;
  }
}

/** Registers the stream for the window that it waits for. */
function park(connection: ConnectionState, stream: StreamState): void {
  const isBlocked = streamWindowOf(connection, stream) <= 0;
  (isBlocked ? connection.waitingForStream : connection.waitingForConnection).add(stream);
}

/** Sends more of the queue after a window has opened. */
function flush(connection: ConnectionState, stream: StreamState): void {
  const { queued } = stream;
  if (queued === undefined) return;
  while (queued.bytes > 0) {
    const piece = queued.pieces[0];
    if (piece === undefined) break;
    const ends = queued.endsWithData && queued.pieces.length === 1;
    const sentTo = writeData(connection, stream, piece, queued.at, ends);
    queued.bytes -= sentTo - queued.at;
    connection.queuedBytes -= sentTo - queued.at;
    queued.at = sentTo;
    if (sentTo < piece.length) break;
    queued.pieces.shift();
    queued.at = 0;
  }
  if (queued.bytes > 0) park(connection, stream);
  else endQueue(connection, stream, queued.trailers, queued.endsWithData);
}

function endQueue(
  connection: ConnectionState,
  stream: StreamState,
  trailers: Uint8Array | undefined,
  ended: boolean,
): void {
  dropQueue(connection, stream);
  if (trailers !== undefined) writeHeaders(connection, stream.id, trailers, true);
  if (trailers !== undefined || ended) finishResponse(connection, stream);
}

/**
 * END_STREAM is written. If the request is incomplete, RST_STREAM with NO_ERROR says that its rest is not needed
 * (RFC 9113 §8.1), and the stream is closed on both sides.
 */
export function finishResponse(connection: ConnectionState, stream: StreamState): void {
  connection.responseCount++;
  if (stream.remoteClosed) {
    forgetStream(connection, stream, CloseReason.ended);
  } else {
    forgetStream(connection, stream, CloseReason.resetByUs);
    writeRstStream(connection, stream.id, ErrorCode.noError);
  }
}

/** WINDOW_UPDATE on stream 0. */
export function openConnectionWindow(connection: ConnectionState, increment: number): void {
  if (connection.sendWindow + increment > MAX_WINDOW_BYTES) {
    failConnection(connection, ErrorCode.flowControlError, 'the connection window overflows');
    return;
  }
  connection.sendWindow += increment;
  for (const stream of connection.waitingForConnection) {
    if (connection.sendWindow <= 0) return;
    connection.waitingForConnection.delete(stream);
    flush(connection, stream);
  }
}

/** WINDOW_UPDATE on an open stream. */
export function openStreamWindow(
  connection: ConnectionState,
  stream: StreamState,
  increment: number,
): void {
  if (streamWindowOf(connection, stream) + increment > MAX_WINDOW_BYTES) {
    failStream(connection, stream.id, ErrorCode.flowControlError, 'a stream window overflows');
    return;
  }
  stream.sendWindowDelta += increment;
  if (connection.waitingForStream.delete(stream)) flush(connection, stream);
}

/** SETTINGS_INITIAL_WINDOW_SIZE shifts the windows of all streams, also below zero (RFC 9113 §6.9.2). */
export function setPeerInitialWindow(connection: ConnectionState, bytes: number): void {
  const grows = bytes > connection.peerInitialWindow;
  connection.peerInitialWindow = bytes;
  const overflows = ({ sendWindowDelta }: StreamState) =>
    bytes + sendWindowDelta > MAX_WINDOW_BYTES;
  if (grows && someStream(connection.streams, overflows)) {
    failConnection(connection, ErrorCode.flowControlError, 'a stream window overflows');
  }
}

/** Sends what the new initial window allows. Call it after the ACK: the peer expects that first. */
export function flushAfterSettings(connection: ConnectionState): void {
  for (const stream of [...connection.waitingForStream]) {
    connection.waitingForStream.delete(stream);
    flush(connection, stream);
  }
}

/** Resets the streams whose response has waited too long for a window. */
export function endStalledStreams(connection: ConnectionState): void {
  const waiting = [...connection.waitingForStream, ...connection.waitingForConnection];
  for (const stream of waiting) {
    const { queued } = stream;
    if (queued !== undefined && connection.nowMs - queued.sinceMs >= STALL_MS) {
      failStream(
        connection,
        stream.id,
        ErrorCode.cancel,
        'a response waited too long for a window',
      );
    }
  }
}
