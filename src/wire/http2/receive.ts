import { SLOW_FRAME_MS } from './budgets';
import { Phase, type ConnectionState } from './connection-state';
import { ErrorCode } from './error-codes';
import { failConnection } from './failures';
import { CLIENT_PREFACE, FRAME_HEADER_BYTES, MAX_FRAME_BYTES } from './frames';
import { octetAt } from './octets';
import { readFrame } from './read-frame';

/**
 * Reads whole frames where they lie; only the beginning of one that is cut off is copied. So the events do not depend
 * on how the octets were cut.
 */
export function receiveBytes<S>(connection: ConnectionState<S>, bytes: Uint8Array): void {
  let at = connection.tailLength === 0 ? 0 : completeTail(connection, bytes);
  while (connection.phase !== Phase.closed) {
    const size = nextSize(connection, bytes, at, bytes.length - at);
    if (size > bytes.length - at) break;
    readNext(connection, bytes, at, size);
    at += size;
  }
  if (connection.phase !== Phase.closed && at < bytes.length) {
    connection.tailSinceMs = connection.nowMs;
    appendTail(connection, bytes, at, bytes.length);
  }
}

/** Fills the tail up to a whole frame and reads it; returns where the next frame begins in `bytes`. */
function completeTail<S>(connection: ConnectionState<S>, bytes: Uint8Array): number {
  let at = 0;
  while (connection.phase !== Phase.closed) {
    const size = nextSize(connection, connection.tail, 0, connection.tailLength);
    if (size <= connection.tailLength) {
      connection.tailLength = 0;
      readNext(connection, connection.tail, 0, size);
      break;
    }
    const until = Math.min(bytes.length, at + size - connection.tailLength);
    if (until === at) break;
    appendTail(connection, bytes, at, until);
    at = until;
  }
  return at;
}

function appendTail<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  const length = connection.tailLength + end - start;
  if (length > connection.tail.length) {
    const wider = new Uint8Array(Math.max(LEAST_TAIL, length * 2));
    wider.set(connection.tail.subarray(0, connection.tailLength));
    connection.tail = wider;
  }
  connection.tail.set(bytes.subarray(start, end), connection.tailLength);
  connection.tailLength = length;
}

const LEAST_TAIL = 64;

/** Ends a connection that does not get to the end of a frame or of a header block. */
export function endSlowFrame<S>(connection: ConnectionState<S>): void {
  const { tailLength, tailSinceMs, openBlock, nowMs } = connection;
  const slowFrame = tailLength > 0 && nowMs - tailSinceMs >= SLOW_FRAME_MS;
  const slowBlock = openBlock !== undefined && nowMs - openBlock.sinceMs >= SLOW_FRAME_MS;
  if (slowFrame || slowBlock) {
    const reason = 'a frame or header block does not end';
    failConnection(connection, ErrorCode.enhanceYourCalm, reason, 'SLOW_FRAME_MS');
  }
}

/** How long the frame (or the preface) is that begins at `at`, as far as `available` octets can tell. */
function nextSize<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  at: number,
  available: number,
): number {
  if (connection.phase === Phase.preface) return prefaceSize(connection, bytes, at, available);
  if (available < FRAME_HEADER_BYTES) return FRAME_HEADER_BYTES;
  const length =
    (octetAt(bytes, at) << 16) | (octetAt(bytes, at + 1) << 8) | octetAt(bytes, at + 2);
  if (length > MAX_FRAME_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a frame is too long');
  }
  return FRAME_HEADER_BYTES + length;
}

/** The client's preface (RFC 9113 §3.4); another first octet is enough to know that it is none. */
function prefaceSize<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  at: number,
  available: number,
): number {
  const come = Math.min(available, CLIENT_PREFACE.length);
  for (let i = 0; i < come; i++) {
    if (bytes[at + i] !== CLIENT_PREFACE[i]) {
      failConnection(
        connection,
        ErrorCode.protocolError,
        'the client preface is not that of http/2',
      );
      break;
    }
  }
  return CLIENT_PREFACE.length;
}

function readNext<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  at: number,
  size: number,
): void {
  if (connection.phase === Phase.closed) return;
  if (connection.phase === Phase.preface) connection.phase = Phase.settings;
  else readFrame(connection, bytes, at, at + size);
}
