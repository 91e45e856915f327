import { MAX_WAITING_REPLIES } from './budgets';
import { ignoreFrame } from './closed-frames';
import { Phase, type ConnectionState } from './connection-state';
import { ErrorCode } from './error-codes';
import { failConnection, failOverQueue } from './failures';
import { Flag, FRAME_HEADER_BYTES, FrameType } from './frames';
import { octetAt, uint31At } from './octets';
import {
  receiveGoAway,
  receivePing,
  receivePriority,
  receiveRstStream,
  receiveWindowUpdate,
} from './receive-control';
import { receiveData } from './receive-data';
import { interruptsBlock, receiveContinuation, receiveHeaders } from './receive-headers';
import { receiveSettings } from './receive-settings';

/** Does what the whole frame `bytes[at, end)` says. */
export function readFrame<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  at: number,
  end: number,
): void {
  const type = octetAt(bytes, at + 3);
  const flags = octetAt(bytes, at + 4);
  const streamId = uint31At(bytes, at + 5);
  if (isOutOfTurn(connection, type, flags, streamId)) {
    failConnection(connection, ErrorCode.protocolError, 'a frame comes where another must');
    return;
  }
  takeFrame(connection, bytes, at + FRAME_HEADER_BYTES, end, type, flags, streamId);
  if (connection.waitingReplies > MAX_WAITING_REPLIES) {
    failConnection(
      connection,
      ErrorCode.enhanceYourCalm,
      'too many replies wait to be read',
      'MAX_WAITING_REPLIES',
    );
  }
  // Not at the end of the read: what happens must not depend on how the octets were cut.
  failOverQueue(connection);
}

/** SETTINGS come first (RFC 9113 §3.4), and nothing comes into the middle of a header block. */
function isOutOfTurn<S>(
  connection: ConnectionState<S>,
  type: number,
  flags: number,
  streamId: number,
): boolean {
  if (connection.phase === Phase.settings) {
    return type !== FrameType.settings || (flags & Flag.ack) !== 0;
  }
  return interruptsBlock(connection, type, streamId);
}

function takeFrame<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  type: number,
  flags: number,
  streamId: number,
): void {
  switch (type) {
    case FrameType.data:
      receiveData(connection, bytes, start, end, flags, streamId);
      return;
    case FrameType.headers:
      receiveHeaders(connection, bytes, start, end, flags, streamId);
      return;
    case FrameType.rstStream:
      receiveRstStream(connection, bytes, start, end, streamId);
      return;
    case FrameType.windowUpdate:
      receiveWindowUpdate(connection, bytes, start, end, streamId);
      return;
    case FrameType.continuation:
      receiveContinuation(connection, bytes, start, end, flags);
      return;
    default:
      takeRareFrame(connection, bytes, start, end, type, flags, streamId);
  }
}

function takeRareFrame<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  type: number,
  flags: number,
  streamId: number,
): void {
  switch (type) {
    case FrameType.priority:
      receivePriority(connection, bytes, start, end, streamId);
      return;
    case FrameType.settings:
      receiveSettings(connection, bytes, start, end, flags, streamId);
      return;
    case FrameType.ping:
      receivePing(connection, bytes, start, end, flags, streamId);
      return;
    case FrameType.goAway:
      receiveGoAway(connection, start, end, streamId);
      return;
    case FrameType.pushPromise:
      failConnection(connection, ErrorCode.protocolError, 'a client cannot push');
      return;
    default:
      // Extensions are ignored (RFC 9113 §5.5).
      ignoreFrame(connection);
  }
}
