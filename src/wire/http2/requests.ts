import { LIST_BYTES_FACTOR, MAX_STREAMS_BEFORE_ACK } from './budgets';
import { ignoreFrame, receiveOnClosed } from './closed-frames';
import { Ending, rememberEnding } from './closed-streams';
import type { ConnectionState, StreamState } from './connection-state';
import { ErrorCode } from './error-codes';
import { failConnection, failStream } from './failures';
import { decodeBlock } from './hpack/decoder';
import { requestFault, trailersFault, type DecodedHeaders } from './hpack/header-list';
import { bodyAgrees, firstReceiveWindow } from './receive-data';
import { addStream, findStream } from './stream-table';

/** A whole header block has come. It is decoded whatever the stream: the header table is the connection's. */
export function takeHeaderBlock<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  streamId: number,
  endStream: boolean,
  dependsOnItself: boolean,
): void {
  const list = decodeBlock(connection.decoder, bytes, start, end);
  if (list === undefined) {
    const reason = connection.decoder.headers.block.fault ?? '';
    failConnection(connection, ErrorCode.compressionError, reason);
    return;
  }
  const { maxHeaderListBytes } = connection.options;
  if (list.listBytes > maxHeaderListBytes * LIST_BYTES_FACTOR) {
    const reason = 'a header list is far too long';
    failConnection(connection, ErrorCode.enhanceYourCalm, reason, 'LIST_BYTES_FACTOR');
  } else if (streamId > connection.highestSeenId) {
    takeRequest(connection, list, streamId, endStream, dependsOnItself);
  } else {
    takeTrailers(connection, list, streamId, endStream, dependsOnItself);
  }
}

function takeRequest<S>(
  connection: ConnectionState<S>,
  list: DecodedHeaders,
  streamId: number,
  endStream: boolean,
  dependsOnItself: boolean,
): void {
  connection.highestSeenId = streamId;
  if (streamId > connection.ignoreAboveId) {
    rememberEnding(connection.closedStreams, streamId, Ending.resetByUs);
    ignoreFrame(connection);
    return;
  }
  connection.lastTakenId = streamId;
  const fault = requestFault(list) ?? (dependsOnItself ? SELF_DEPENDENCY : undefined);
  if (list.listBytes > connection.options.maxHeaderListBytes) {
    failStream(connection, streamId, ErrorCode.enhanceYourCalm, LIST_TOO_LONG);
  } else if (fault !== undefined || (endStream && list.contentLength > 0)) {
    failStream(connection, streamId, ErrorCode.protocolError, fault ?? BODY_MISSING);
  } else if (connection.streams.count >= streamLimit(connection)) {
    failStream(connection, streamId, ErrorCode.refusedStream, 'too many streams at once');
  } else {
    openStream(connection, list, streamId, endStream);
  }
}

const SELF_DEPENDENCY = 'a stream depends on itself';
const LIST_TOO_LONG = 'a header list is too long';
const BODY_MISSING = 'the body is not content-length long';

/** Our limit binds a peer that has acknowledged it (RFC 9113 §6.5.3). */
function streamLimit<S>(connection: ConnectionState<S>): number {
  const ours = connection.options.maxConcurrentStreams;
  return connection.settingsAcked ? ours : Math.max(ours, MAX_STREAMS_BEFORE_ACK);
}

function openStream<S>(
  connection: ConnectionState<S>,
  list: DecodedHeaders,
  id: number,
  endStream: boolean,
): void {
  const stream: StreamState<S> = {
    id,
    user: undefined,
    closed: false,
    remoteEnded: endStream,
    answered: false,
    sendCredit: 0,
    receiveWindow: firstReceiveWindow(connection),
    taken: 0,
    contentLength: list.contentLength,
    bodyBytes: 0,
    openedAtMs: connection.nowMs,
    queued: undefined,
  };
  addStream(connection.streams, stream);
  connection.requestCount++;
  connection.events.onRequest(stream, list, endStream);
}

/** A second header block on a stream: trailers, if the stream still takes any (RFC 9113 §8.1). */
function takeTrailers<S>(
  connection: ConnectionState<S>,
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
  if (stream.remoteEnded) {
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
  stream.remoteEnded = true;
  if (!stream.answered) connection.events.onTrailers(stream, list);
}

function faultOfTrailers<S>(
  stream: StreamState<S>,
  list: DecodedHeaders,
  endStream: boolean,
): string | undefined {
  if (!endStream) return 'trailers do not end their stream';
  return trailersFault(list) ?? (bodyAgrees(stream, true) ? undefined : BODY_MISSING);
}
