import { receiveOnClosed } from './closed-frames';
import { INITIAL_WINDOW_BYTES, type ConnectionState, type StreamState } from './connection-state';
import { ErrorCode } from './error-codes';
import { allow, failConnection, failStream } from './failures';
import { CONNECTION_STREAM, Flag, isServerStream } from './frames';
import { NO_CONTENT_LENGTH } from './hpack/header-list';
import { BAD_PADDING, endOfContent, startOfContent } from './padding';
import { writeWindowUpdate } from './replies';
import { findStream } from './stream-table';

/** DATA (RFC 9113 §6.1). */
export function receiveData<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  flags: number,
  streamId: number,
): void {
  if (isServerStream(streamId) || streamId > connection.highestSeenId) {
    failConnection(connection, ErrorCode.protocolError, 'data came on an idle stream');
    return;
  }
  const bodyEnd = endOfContent(connection, bytes, start, end, flags);
  if (bodyEnd === BAD_PADDING || !takeFromConnection(connection, end - start)) return;
  const stream = findStream(connection.streams, streamId);
  if (stream === undefined) {
    receiveOnClosed(connection, streamId);
  } else if (takeFromStream(connection, stream, end - start, flags)) {
    receiveBody(connection, stream, bytes, startOfContent(start, flags), bodyEnd, flags);
  }
}

function receiveBody<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  flags: number,
): void {
  const endStream = (flags & Flag.endStream) !== 0;
  stream.bodyBytes += end - start;
  if (!bodyAgrees(stream, endStream)) {
    failStream(
      connection,
      stream.id,
      ErrorCode.protocolError,
      'the body is not content-length long',
    );
    return;
  }
  if (start === end && !endStream && !allow(connection, connection.allowances.emptyFrames)) return;
  stream.remoteEnded = endStream;
  if (!stream.answered) connection.events.onData(stream, bytes, start, end, endStream);
}

/** Whether the body, as far as it has come, is what content-length says (RFC 9113 §8.1.1). */
export function bodyAgrees<S>(stream: StreamState<S>, complete: boolean): boolean {
  if (stream.contentLength === NO_CONTENT_LENGTH) return true;
  return complete
    ? stream.bodyBytes === stream.contentLength
    : stream.bodyBytes <= stream.contentLength;
}

/**
 * Both windows are given back when half of them is used, so that small bodies cost no WINDOW_UPDATE (RFC 9113 §6.9).
 * Padding counts as body there.
 */
function takeFromConnection<S>(connection: ConnectionState<S>, size: number): boolean {
  connection.receiveWindow -= size;
  if (connection.receiveWindow < 0) {
    failConnection(connection, ErrorCode.flowControlError, 'data exceeds the connection window');
    return false;
  }
  connection.taken += size;
  if (connection.taken * 2 >= connection.options.connectionWindowBytes) {
    writeWindowUpdate(connection, CONNECTION_STREAM, connection.taken);
    connection.granted += connection.taken;
    connection.taken = 0;
  }
  return true;
}

function takeFromStream<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  size: number,
  flags: number,
): boolean {
  if (stream.remoteEnded) {
    failStream(connection, stream.id, ErrorCode.streamClosed, 'data follows the end of its stream');
    return false;
  }
  stream.receiveWindow -= size;
  if (stream.receiveWindow < 0) {
    failStream(connection, stream.id, ErrorCode.flowControlError, 'data exceeds the stream window');
    return false;
  }
  stream.taken += size;
  if ((flags & Flag.endStream) === 0 && stream.taken * 2 >= connection.options.streamWindowBytes) {
    writeWindowUpdate(connection, stream.id, stream.taken);
    stream.receiveWindow += stream.taken;
    stream.taken = 0;
  }
  return true;
}

/** The peer may use what it can have read of: the WINDOW_UPDATEs that have been taken from the output. */
export function grantTaken<S>(connection: ConnectionState<S>): void {
  connection.receiveWindow += connection.granted;
  connection.granted = 0;
}

/** The window of a new stream: the peer may use the initial one until it knows ours. */
export function firstReceiveWindow<S>(connection: ConnectionState<S>): number {
  const ours = connection.options.streamWindowBytes;
  return connection.settingsAcked ? ours : Math.max(ours, INITIAL_WINDOW_BYTES);
}
