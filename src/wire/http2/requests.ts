import { LIST_BYTES_FACTOR, MAX_STREAMS_BEFORE_ACK } from './budgets';
import { CloseReason, rememberClosed, addStream, findStream } from './stream-table';
import type { ConnectionState, StreamState } from './connection-state';
import { failConnection, failStream, ignoreFrame, receiveOnClosed } from './errors';
import { ErrorCode } from './frames';
import { decodeBlock } from './hpack/decoder';
import { requestFault, trailersFault, type DecodedHeaders } from './hpack/header-list';
import { BODY_LENGTH_WRONG, firstReceiveWindow, matchesContentLength } from './receive-data';

/**
 * Decodes a whole header block, whatever its stream: the header table is the connection's. Undefined: the connection has
 * just ended over it.
 */
export function decodeHeaders(
  connection: ConnectionState,
  bytes: Uint8Array,
  start: number,
  end: number,
): DecodedHeaders | undefined {
  const list = decodeBlock(connection.decoder, bytes, start, end);
  if (list === undefined) {
    const reason = connection.decoder.headers.block.fault ?? '';
    failConnection(connection, ErrorCode.compressionError, reason);
    return undefined;
  }
  if (list.listBytes > connection.options.maxHeaderListBytes * LIST_BYTES_FACTOR) {
    const reason = 'a header list is far too long';
    failConnection(connection, ErrorCode.enhanceYourCalm, reason, 'LIST_BYTES_FACTOR');
    return undefined;
  }
  return list;
}

/** Begins a request, or ends one with its trailers. */
export function receiveHeaderList(
  connection: ConnectionState,
  list: DecodedHeaders,
  streamId: number,
  endStream: boolean,
  dependsOnItself: boolean,
): void {
  const receive = streamId > connection.highestSeenId ? receiveRequest : receiveTrailers;
  receive(connection, list, streamId, endStream, dependsOnItself);
}

function receiveRequest(
  connection: ConnectionState,
  list: DecodedHeaders,
  streamId: number,
  endStream: boolean,
  dependsOnItself: boolean,
): void {
  connection.highestSeenId = streamId;
  if (streamId > connection.ignoreAboveId) {
    rememberClosed(connection.closedStreams, streamId, CloseReason.resetByUs);
    ignoreFrame(connection);
    return;
  }
  connection.lastTakenId = streamId;
  const fault = requestFault(list) ?? (dependsOnItself ? SELF_DEPENDENCY : undefined);
  if (list.listBytes > connection.options.maxHeaderListBytes) {
    failStream(connection, streamId, ErrorCode.enhanceYourCalm, LIST_TOO_LONG);
  } else if (fault !== undefined || (endStream && list.contentLength > 0)) {
    failStream(connection, streamId, ErrorCode.protocolError, fault ?? BODY_LENGTH_WRONG);
  } else if (connection.streams.count >= streamLimit(connection)) {
    failStream(connection, streamId, ErrorCode.refusedStream, 'too many concurrent streams');
  } else {
    openStream(connection, list, streamId, endStream);
  }
}

const SELF_DEPENDENCY = 'a stream depends on itself';
const LIST_TOO_LONG = 'a header list is too long';

/** Our limit binds a peer that has acknowledged it (RFC 9113 §6.5.3). */
function streamLimit(connection: ConnectionState): number {
  const ours = connection.options.maxConcurrentStreams;
  return connection.settingsAcked ? ours : Math.max(ours, MAX_STREAMS_BEFORE_ACK);
}

function openStream(
  connection: ConnectionState,
  list: DecodedHeaders,
  id: number,
  endStream: boolean,
): void {
  const stream: StreamState = {
    id,
    user: undefined,
    closed: false,
    remoteClosed: endStream,
    localClosed: false,
    sendWindowDelta: 0,
    receiveWindow: firstReceiveWindow(connection),
    consumed: 0,
    contentLength: list.contentLength,
    bodyBytes: 0,
    openedAtMs: connection.nowMs,
    queued: undefined,
  };
  addStream(connection.streams, stream);
  connection.requestCount++;
  connection.events.onRequest(stream, list, endStream);
}

/** A second header block on a stream: trailers, unless the stream is closed (RFC 9113 §8.1). */
function receiveTrailers(
  connection: ConnectionState,
  list: DecodedHeaders,
  streamId: number,
  endStream: boolean,
  dependsOnItself: boolean,
): void {
  const stream = findStream(connection.streams, streamId);
  if (stream === undefined) {
    receiveOnClosed(connection, streamId);
    return;
  }
  if (stream.remoteClosed) {
    const reason = 'headers follow the end of their stream';
    failStream(connection, streamId, ErrorCode.streamClosed, reason);
    return;
  }
  if (list.listBytes > connection.options.maxHeaderListBytes) {
    failStream(connection, streamId, ErrorCode.enhanceYourCalm, LIST_TOO_LONG);
    return;
  }
  const fault = dependsOnItself ? SELF_DEPENDENCY : faultOfTrailers(stream, list, endStream);
  if (fault !== undefined) {
    failStream(connection, streamId, ErrorCode.protocolError, fault);
    return;
  }
  stream.remoteClosed = true;
  if (!stream.localClosed) connection.events.onTrailers(stream, list);
}

function faultOfTrailers(
  stream: StreamState,
  list: DecodedHeaders,
  endStream: boolean,
): string | undefined {
  if (!endStream) return 'trailers do not end their stream';
  return (
    trailersFault(list) ?? (matchesContentLength(stream, true) ? undefined : BODY_LENGTH_WRONG)
  );
}
