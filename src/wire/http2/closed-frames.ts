import { Ending, endingOf } from './closed-streams';
import type { ConnectionState } from './connection-state';
import { ErrorCode } from './error-codes';
import { allow, failConnection, failStream } from './failures';

/**
 * DATA or HEADERS on a stream that is over (RFC 9113 §5.1, "closed"). What counts is how it went; the caller has
 * taken care of what all share, the connection's window and its header table.
 */
export function receiveOnClosed<S>(connection: ConnectionState<S>, streamId: number): void {
  switch (endingOf(connection.closedStreams, streamId)) {
    case Ending.neverOpened:
      failConnection(connection, ErrorCode.protocolError, 'a stream id is lower than one before');
      return;
    case Ending.ended:
      failConnection(connection, ErrorCode.streamClosed, 'a frame follows the end of its stream');
      return;
    case Ending.resetByUs:
      ignoreFrame(connection);
      return;
    default:
      failStream(
        connection,
        streamId,
        ErrorCode.streamClosed,
        'a frame follows the reset of its stream',
      );
  }
}

/** A frame that changes nothing, but is counted. */
export function ignoreFrame<S>(connection: ConnectionState<S>): void {
  allow(connection, connection.allowances.ignoredFrames);
}
