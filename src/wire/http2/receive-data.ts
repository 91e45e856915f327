import { byteAt } from '../bytes';
import {
  INITIAL_WINDOW_BYTES,
  type ConnectionState,
  type ReceiveFrame,
  type StreamState,
} from './connection-state';
import { chargeBudget, failConnection, failStream, receiveOnClosed } from './errors';
import {
  CONNECTION_STREAM,
  ErrorCode,
  Flag,
  flagsAt,
  FRAME_HEADER_BYTES,
  isServerStream,
  streamIdAt,
} from './frames';
import { NO_CONTENT_LENGTH } from './hpack/header-list';
import { findStream } from './stream-table';
import { writeWindowUpdate } from './write-frames';

/** DATA (RFC 9113 §6.1). */
export const receiveData: ReceiveFrame = (connection, bytes, at, end) => {
  const streamId = streamIdAt(bytes, at);
  if (isServerStream(streamId) || streamId > connection.highestSeenId) {
    failConnection(connection, ErrorCode.protocolError, 'data came on an idle stream');
    return;
  }
  const bodyEnd = contentEnd(connection, bytes, at, end);
  const size = end - at - FRAME_HEADER_BYTES;
  if (bodyEnd === BAD_PADDING || !takeFromConnection(connection, size)) return;
  const stream = findStream(connection.streams, streamId);
  if (stream === undefined) {
    receiveOnClosed(connection, streamId);
    return;
  }
  const endStream = (flagsAt(bytes, at) & Flag.endStream) !== 0;
  const start = contentStart(bytes, at);
  if (!takeFromStream(connection, stream, size, endStream)) return;
  if (!takeBody(connection, stream, bodyEnd - start, endStream)) return;
  if (!stream.localClosed) connection.events.onData(stream, bytes, start, bodyEnd, endStream);
};

/** What `contentEnd` returns after it has ended the connection. */
export const BAD_PADDING = -1;

/** Where the content of a frame begins: after its header and the Pad Length field, if it has one (RFC 9113 §6.1). */
export function contentStart(bytes: Uint8Array, at: number): number {
  const isPadded = (flagsAt(bytes, at) & Flag.padded) !== 0;
  return at + FRAME_HEADER_BYTES + (isPadded ? 1 : 0);
}

/** Where the padding of the frame `bytes[at, end)` begins, or BAD_PADDING. */
export function contentEnd(
  connection: ConnectionState,
  bytes: Uint8Array,
  at: number,
  end: number,
): number {
  if ((flagsAt(bytes, at) & Flag.padded) === 0) return end;
  const start = at + FRAME_HEADER_BYTES;
  if (start === end) {
    failConnection(connection, ErrorCode.frameSizeError, 'a padded frame has no pad length');
    return BAD_PADDING;
  }
  const contentEnds = end - byteAt(bytes, start);
  if (contentEnds > start) return contentEnds;
  failConnection(connection, ErrorCode.protocolError, 'padding is longer than its frame');
  return BAD_PADDING;
}

/** Counts `length` more bytes of the request's body; false: they have just failed the stream or the connection. */
function takeBody(
  connection: ConnectionState,
  stream: StreamState,
  length: number,
  endStream: boolean,
): boolean {
  stream.bodyBytes += length;
  if (!matchesContentLength(stream, endStream)) {
    failStream(connection, stream.id, ErrorCode.protocolError, BODY_LENGTH_WRONG);
    return false;
  }
  const isEmpty = length === 0 && !endStream;
  if (isEmpty && !chargeBudget(connection, connection.buckets.emptyFrames)) return false;
  stream.remoteClosed = endStream;
  return true;
}

export const BODY_LENGTH_WRONG = 'the body is not content-length long';

/** Whether the body received so far matches content-length (RFC 9113 §8.1.1). */
export function matchesContentLength(stream: StreamState, complete: boolean): boolean {
  if (stream.contentLength === NO_CONTENT_LENGTH) return true;
  return complete
    ? stream.bodyBytes === stream.contentLength
    : stream.bodyBytes <= stream.contentLength;
}

/**
 * Both windows are replenished when half of them is used, so that small bodies cost no WINDOW_UPDATE (RFC 9113 §6.9).
 * Padding counts as body there.
 */
function takeFromConnection(connection: ConnectionState, size: number): boolean {
  connection.receiveWindow -= size;
  if (connection.receiveWindow < 0) {
    failConnection(connection, ErrorCode.flowControlError, 'data exceeds the connection window');
    return false;
  }
  connection.consumed += size;
  if (connection.consumed * 2 >= connection.options.connectionWindowBytes) {
    writeWindowUpdate(connection, CONNECTION_STREAM, connection.consumed);
    connection.pendingUpdate += connection.consumed;
    connection.consumed = 0;
  }
  return true;
}

function takeFromStream(
  connection: ConnectionState,
  stream: StreamState,
  size: number,
  endStream: boolean,
): boolean {
  if (stream.remoteClosed) {
    failStream(connection, stream.id, ErrorCode.streamClosed, 'data follows the end of its stream');
    return false;
  }
  stream.receiveWindow -= size;
  if (stream.receiveWindow < 0) {
    failStream(connection, stream.id, ErrorCode.flowControlError, 'data exceeds the stream window');
    return false;
  }
  stream.consumed += size;
  if (!endStream && stream.consumed * 2 >= connection.options.streamWindowBytes) {
    writeWindowUpdate(connection, stream.id, stream.consumed);
    stream.receiveWindow += stream.consumed;
    stream.consumed = 0;
  }
  return true;
}

/** Credits the window only once its WINDOW_UPDATE has left the output; the peer cannot have seen it earlier. */
export function applyWindowUpdates(connection: ConnectionState): void {
  connection.receiveWindow += connection.pendingUpdate;
  connection.pendingUpdate = 0;
}

/** The window of a new stream: the peer may use the initial one until it knows ours. */
export function firstReceiveWindow(connection: ConnectionState): number {
  const ours = connection.options.streamWindowBytes;
  return connection.settingsAcked ? ours : Math.max(ours, INITIAL_WINDOW_BYTES);
}
