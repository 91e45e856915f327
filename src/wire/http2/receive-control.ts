import { uint31At, uint32At } from '../bytes';
import { RAPID_RESET_AGE_MS } from './budgets';
import { CloseReason, findStream } from './stream-table';
import type { ConnectionState, ReceiveFrame } from './connection-state';
import { isOwnersPing, opaqueOf, receiveDrainPingAck } from './drain';
import { chargeBudget, failConnection, failStream, forgetStream, ignoreFrame } from './errors';
import { openConnectionWindow, openStreamWindow } from './flow-control';
import {
  CONNECTION_STREAM,
  ErrorCode,
  Flag,
  flagsAt,
  FRAME_HEADER_BYTES,
  isServerStream,
  streamIdAt,
} from './frames';
import { writePing } from './write-frames';

const PRIORITY_BYTES = FRAME_HEADER_BYTES + 5;
const RST_STREAM_BYTES = FRAME_HEADER_BYTES + 4;
const PING_BYTES = FRAME_HEADER_BYTES + 8;
const WINDOW_UPDATE_BYTES = FRAME_HEADER_BYTES + 4;
const MIN_GO_AWAY_BYTES = FRAME_HEADER_BYTES + 8;

/** PRIORITY (RFC 9113 §6.3): deprecated and without effect, on any stream at any time. */
export const receivePriority: ReceiveFrame = (connection, bytes, at, end) => {
  const streamId = streamIdAt(bytes, at);
  if (streamId === CONNECTION_STREAM) {
    failConnection(connection, ErrorCode.protocolError, 'priority came on stream 0');
  } else if (end - at !== PRIORITY_BYTES) {
    const reason = 'a priority frame is not 5 bytes long';
    failStream(connection, streamId, ErrorCode.frameSizeError, reason);
  } else if (uint31At(bytes, at + FRAME_HEADER_BYTES) === streamId) {
    failStream(connection, streamId, ErrorCode.protocolError, 'a stream depends on itself');
  } else {
    ignoreFrame(connection);
  }
};

/** RST_STREAM (RFC 9113 §6.4). */
export const receiveRstStream: ReceiveFrame = (connection, bytes, at, end) => {
  const streamId = streamIdAt(bytes, at);
  if (end - at !== RST_STREAM_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a rst_stream frame is not 4 bytes long');
    return;
  }
  if (isIdle(connection, streamId)) {
    failConnection(connection, ErrorCode.protocolError, 'rst_stream came on an idle stream');
    return;
  }
  const stream = findStream(connection.streams, streamId);
  if (stream === undefined) {
    ignoreFrame(connection);
    return;
  }
  const { buckets } = connection;
  const young = connection.nowMs - stream.openedAtMs < RAPID_RESET_AGE_MS;
  if (young && !chargeBudget(connection, buckets.rapidResets)) return;
  if (!chargeBudget(connection, buckets.resets)) return;
  forgetStream(connection, stream, CloseReason.resetByPeer);
  connection.events.onReset(stream, uint32At(bytes, at + FRAME_HEADER_BYTES));
};

/** PING (RFC 9113 §6.7). */
export const receivePing: ReceiveFrame = (connection, bytes, at, end) => {
  const start = at + FRAME_HEADER_BYTES;
  if (streamIdAt(bytes, at) !== CONNECTION_STREAM) {
    failConnection(connection, ErrorCode.protocolError, 'ping came on a stream');
  } else if (end - at !== PING_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a ping frame is not 8 bytes long');
  } else if ((flagsAt(bytes, at) & Flag.ack) !== 0) {
    receivePingAck(connection, bytes, start);
  } else if (chargeBudget(connection, connection.buckets.pings)) {
    writePing(connection, Flag.ack, bytes, start);
  }
};

function receivePingAck(connection: ConnectionState, bytes: Uint8Array, start: number): void {
  if (isOwnersPing(bytes, start)) connection.events.onPingAck?.(opaqueOf(bytes, start));
  else if (!receiveDrainPingAck(connection, bytes, start)) ignoreFrame(connection);
}

/** GOAWAY (RFC 9113 §6.8): the peer opens no more streams; the open ones go on. */
export const receiveGoAway: ReceiveFrame = (connection, bytes, at, end) => {
  if (streamIdAt(bytes, at) !== CONNECTION_STREAM) {
    failConnection(connection, ErrorCode.protocolError, 'goaway came on a stream');
  } else if (end - at < MIN_GO_AWAY_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a goaway frame is too short');
  } else {
    connection.peerLeaving = true;
    ignoreFrame(connection);
  }
};

/** WINDOW_UPDATE (RFC 9113 §6.9). */
export const receiveWindowUpdate: ReceiveFrame = (connection, bytes, at, end) => {
  if (end - at !== WINDOW_UPDATE_BYTES) {
    const reason = 'a window_update is not 4 bytes long';
    failConnection(connection, ErrorCode.frameSizeError, reason);
    return;
  }
  if (!chargeBudget(connection, connection.buckets.windowUpdates)) return;
  const streamId = streamIdAt(bytes, at);
  const increment = uint31At(bytes, at + FRAME_HEADER_BYTES);
  if (streamId !== CONNECTION_STREAM) updateStreamWindow(connection, streamId, increment);
  else if (increment > 0) openConnectionWindow(connection, increment);
  else failConnection(connection, ErrorCode.protocolError, 'a window_update is 0');
};

function updateStreamWindow(
  connection: ConnectionState,
  streamId: number,
  increment: number,
): void {
  if (isIdle(connection, streamId)) {
    failConnection(connection, ErrorCode.protocolError, 'window_update came on an idle stream');
    return;
  }
  const stream = findStream(connection.streams, streamId);
  if (stream === undefined) ignoreFrame(connection);
  else if (increment > 0) openStreamWindow(connection, stream, increment);
  else failStream(connection, streamId, ErrorCode.protocolError, 'a window_update is 0');
}

function isIdle(connection: ConnectionState, streamId: number): boolean {
  return isServerStream(streamId) || streamId > connection.highestSeenId;
}
