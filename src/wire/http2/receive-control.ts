import { RAPID_RESET_AGE_MS } from './budgets';
import { ignoreFrame } from './closed-frames';
import { Ending } from './closed-streams';
import type { ConnectionState } from './connection-state';
import { answerDrainPing, isOwnersPing, opaqueOf } from './drain';
import { ErrorCode } from './error-codes';
import { allow, failConnection, failStream, forgetStream } from './failures';
import { openConnectionWindow, openStreamWindow } from './flow-control';
import { CONNECTION_STREAM, Flag, isServerStream } from './frames';
import { uint31At, uint32At } from './octets';
import { writePing } from './replies';
import { findStream } from './stream-table';

const PRIORITY_BYTES = 5;
const RST_STREAM_BYTES = 4;
const PING_BYTES = 8;
const WINDOW_UPDATE_BYTES = 4;
const LEAST_GO_AWAY_BYTES = 8;

/** PRIORITY (RFC 9113 §6.3): deprecated and without effect, on any stream at any time. */
export function receivePriority<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  streamId: number,
): void {
  if (streamId === CONNECTION_STREAM) {
    failConnection(connection, ErrorCode.protocolError, 'priority came on stream 0');
  } else if (end - start !== PRIORITY_BYTES) {
    failStream(
      connection,
      streamId,
      ErrorCode.frameSizeError,
      'a priority frame is not 5 octets long',
    );
  } else if (uint31At(bytes, start) === streamId) {
    failStream(connection, streamId, ErrorCode.protocolError, 'a stream depends on itself');
  } else {
    ignoreFrame(connection);
  }
}

/** RST_STREAM (RFC 9113 §6.4). */
export function receiveRstStream<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  streamId: number,
): void {
  if (end - start !== RST_STREAM_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a rst_stream frame is not 4 octets long');
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
  const { allowances } = connection;
  const young = connection.nowMs - stream.openedAtMs < RAPID_RESET_AGE_MS;
  if (young && !allow(connection, allowances.rapidResets)) return;
  if (!allow(connection, allowances.resets)) return;
  forgetStream(connection, stream, Ending.resetByPeer);
  connection.events.onReset(stream, uint32At(bytes, start));
}

/** PING (RFC 9113 §6.7). */
export function receivePing<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  flags: number,
  streamId: number,
): void {
  if (streamId !== CONNECTION_STREAM) {
    failConnection(connection, ErrorCode.protocolError, 'ping came on a stream');
  } else if (end - start !== PING_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a ping frame is not 8 octets long');
  } else if ((flags & Flag.ack) !== 0) {
    receivePingAck(connection, bytes, start);
  } else if (allow(connection, connection.allowances.pings)) {
    writePing(connection, Flag.ack, bytes, start);
  }
}

function receivePingAck<S>(connection: ConnectionState<S>, bytes: Uint8Array, start: number): void {
  if (isOwnersPing(bytes, start)) connection.events.onPingAck?.(opaqueOf(bytes, start));
  else if (!answerDrainPing(connection, bytes, start)) ignoreFrame(connection);
}

/** GOAWAY (RFC 9113 §6.8): the peer opens no more streams; those that are open go on. */
export function receiveGoAway<S>(
  connection: ConnectionState<S>,
  start: number,
  end: number,
  streamId: number,
): void {
  if (streamId !== CONNECTION_STREAM) {
    failConnection(connection, ErrorCode.protocolError, 'goaway came on a stream');
  } else if (end - start < LEAST_GO_AWAY_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a goaway frame is too short');
  } else {
    connection.peerLeaving = true;
    ignoreFrame(connection);
  }
}

/** WINDOW_UPDATE (RFC 9113 §6.9). */
export function receiveWindowUpdate<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  streamId: number,
): void {
  if (end - start !== WINDOW_UPDATE_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a window_update is not 4 octets long');
    return;
  }
  if (!allow(connection, connection.allowances.windowUpdates)) return;
  const increment = uint31At(bytes, start);
  if (streamId !== CONNECTION_STREAM) updateStreamWindow(connection, streamId, increment);
  else if (increment > 0) openConnectionWindow(connection, increment);
  else failConnection(connection, ErrorCode.protocolError, 'a window_update is 0');
}

function updateStreamWindow<S>(
  connection: ConnectionState<S>,
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

function isIdle<S>(connection: ConnectionState<S>, streamId: number): boolean {
  return isServerStream(streamId) || streamId > connection.highestSeenId;
}
