import { MAX_QUEUED_BYTES, STALL_MS } from './budgets';
import { MAX_WINDOW_BYTES, type ConnectionState, type StreamState } from './connection-state';
import { ErrorCode } from './error-codes';
import { dropQueue, failConnection, failStream } from './failures';
import { writeData, writeHeaders } from './frame-writer';
import { finishAnswer } from './answer';
import { copyOctets } from './octets';
import { someStream } from './stream-table';

/** Sending under the peer's windows (RFC 9113 §5.2, §6.9): what does not fit is queued per stream. */

/** Sends what the windows allow of `bytes`, and queues a copy of the rest. */
export function sendOrQueue<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  bytes: Uint8Array,
  endStream: boolean,
): void {
  const sent = stream.queued === undefined ? writeData(connection, stream, bytes, 0, endStream) : 0;
  if (sent < bytes.length) queueData(connection, stream, copyOctets(bytes, sent, bytes.length));
  if (stream.queued !== undefined) stream.queued.endsWithData = endStream;
  else if (endStream && !connection.queueOverflown) finishAnswer(connection, stream);
}

function queueData<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  rest: Uint8Array,
): void {
  if (connection.queuedBytes + rest.length > MAX_QUEUED_BYTES) {
    // Said at the next `receive` or `tick`: the owner is not told of ends while it sends.
    connection.queueOverflown = true;
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

function park<S>(connection: ConnectionState<S>, stream: StreamState<S>): void {
  const stuck = connection.peerInitialWindow + stream.sendCredit <= 0;
  (stuck ? connection.waitingForStream : connection.waitingForConnection).add(stream);
}

/** Sends on after a window has opened. */
function flush<S>(connection: ConnectionState<S>, stream: StreamState<S>): void {
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

function endQueue<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  trailers: Uint8Array | undefined,
  ended: boolean,
): void {
  dropQueue(connection, stream);
  if (trailers !== undefined) writeHeaders(connection, stream.id, trailers, true);
  if (trailers !== undefined || ended) finishAnswer(connection, stream);
}

/** WINDOW_UPDATE on stream 0. */
export function openConnectionWindow<S>(connection: ConnectionState<S>, increment: number): void {
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
export function openStreamWindow<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  increment: number,
): void {
  if (connection.peerInitialWindow + stream.sendCredit + increment > MAX_WINDOW_BYTES) {
    failStream(connection, stream.id, ErrorCode.flowControlError, 'a stream window overflows');
    return;
  }
  stream.sendCredit += increment;
  if (connection.waitingForStream.delete(stream)) flush(connection, stream);
}

/** SETTINGS_INITIAL_WINDOW_SIZE moves the windows of all streams, also below zero (RFC 9113 §6.9.2). */
export function setPeerInitialWindow<S>(connection: ConnectionState<S>, bytes: number): void {
  const grows = bytes > connection.peerInitialWindow;
  connection.peerInitialWindow = bytes;
  const overflows = ({ sendCredit }: StreamState<S>) => bytes + sendCredit > MAX_WINDOW_BYTES;
  if (grows && someStream(connection.streams, overflows)) {
    failConnection(connection, ErrorCode.flowControlError, 'a stream window overflows');
  }
}

/** Sends what the new initial window lets out; after the ACK, behind which the peer looks for it. */
export function flushAfterSettings<S>(connection: ConnectionState<S>): void {
  for (const stream of [...connection.waitingForStream]) {
    connection.waitingForStream.delete(stream);
    flush(connection, stream);
  }
}

/** Resets the streams whose answer has waited too long for a window. */
export function endStalledStreams<S>(connection: ConnectionState<S>): void {
  const waiting = [...connection.waitingForStream, ...connection.waitingForConnection];
  for (const stream of waiting) {
    const { queued } = stream;
    if (queued !== undefined && connection.nowMs - queued.sinceMs >= STALL_MS) {
      failStream(connection, stream.id, ErrorCode.cancel, 'an answer waited too long for a window');
    }
  }
}
