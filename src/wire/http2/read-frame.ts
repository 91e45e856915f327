import { MAX_WAITING_REPLIES } from './budgets';
import { Phase, type ConnectionState, type ReceiveFrame } from './connection-state';
import { failConnection, failOnOverflow, ignoreFrame } from './errors';
import { ErrorCode, Flag, flagsAt, FrameType, streamIdAt, typeAt } from './frames';
import {
  receiveGoAway,
  receivePing,
  receivePriority,
  receiveRstStream,
  receiveWindowUpdate,
} from './receive-control';
import { receiveData } from './receive-data';
import { receiveContinuation, receiveHeaders } from './receive-headers';
import { receiveSettings } from './settings';

/** Any frame, which may have come at the wrong time. */
export const readFrame: ReceiveFrame = (connection, bytes, at, end) => {
  if (!isExpected(connection, bytes, at)) {
    failConnection(connection, ErrorCode.protocolError, 'unexpected frame type in this state');
    return;
  }
  dispatch(connection, bytes, at, end);
  if (connection.waitingReplies > MAX_WAITING_REPLIES) {
    const reason = 'too many replies are unread';
    failConnection(connection, ErrorCode.enhanceYourCalm, reason, 'MAX_WAITING_REPLIES');
  }
  // Not once per read: events must not depend on how the bytes were cut.
  failOnOverflow(connection);
};

/** SETTINGS come first (RFC 9113 §3.4); between HEADERS and the last CONTINUATION nothing else may come (RFC 9113 §4.3). */
function isExpected(
  { phase, pendingHeaders }: ConnectionState,
  bytes: Uint8Array,
  at: number,
): boolean {
  if (phase === Phase.settings) {
    return typeAt(bytes, at) === FrameType.settings && (flagsAt(bytes, at) & Flag.ack) === 0;
  }
  if (pendingHeaders === undefined) return true;
  return (
    typeAt(bytes, at) === FrameType.continuation &&
    streamIdAt(bytes, at) === pendingHeaders.streamId
  );
}

function dispatch(connection: ConnectionState, bytes: Uint8Array, at: number, end: number): void {
  switch (typeAt(bytes, at)) {
    case FrameType.data:
      receiveData(connection, bytes, at, end);
      return;
    case FrameType.headers:
      receiveHeaders(connection, bytes, at, end);
      return;
    case FrameType.rstStream:
      receiveRstStream(connection, bytes, at, end);
      return;
    case FrameType.windowUpdate:
      receiveWindowUpdate(connection, bytes, at, end);
      return;
    case FrameType.continuation:
      receiveContinuation(connection, bytes, at, end);
      return;
    default:
      dispatchRare(connection, bytes, at, end);
  }
}

function dispatchRare(
  connection: ConnectionState,
  bytes: Uint8Array,
  at: number,
  end: number,
): void {
  switch (typeAt(bytes, at)) {
    case FrameType.priority:
      receivePriority(connection, bytes, at, end);
      return;
    case FrameType.settings:
      receiveSettings(connection, bytes, at, end);
      return;
    case FrameType.ping:
      receivePing(connection, bytes, at, end);
      return;
    case FrameType.goAway:
      receiveGoAway(connection, bytes, at, end);
      return;
    case FrameType.pushPromise:
      failConnection(connection, ErrorCode.protocolError, 'a client cannot push');
      return;
    default:
      // Extensions are ignored (RFC 9113 §5.5).
      ignoreFrame(connection);
  }
}
