import { uint24At } from '../bytes';
import { SLOW_FRAME_MS } from './budgets';
import { Phase, type ConnectionState } from './connection-state';
import { failConnection } from './errors';
import { CLIENT_PREFACE, ErrorCode, FRAME_HEADER_BYTES, MAX_FRAME_BYTES } from './frames';
import { readFrame } from './read-frame';

/**
 * Reads whole frames in place; only the beginning of one that is cut off is copied. The events do not depend on how the
 * bytes were cut.
 */
export function receiveBytes(connection: ConnectionState, bytes: Uint8Array): void {
  let at = connection.partialLength === 0 ? 0 : completePartial(connection, bytes);
  while (connection.phase !== Phase.closed) {
    const size = nextSize(connection, bytes, at, bytes.length - at);
    if (size > bytes.length - at) break;
    readNext(connection, bytes, at, size);
    at += size;
  }
  if (connection.phase !== Phase.closed && at < bytes.length) {
    connection.partialSinceMs = connection.nowMs;
    appendPartial(connection, bytes, at, bytes.length);
  }
}

/** Completes the partial frame and reads it; returns where the next frame begins in `bytes`. */
function completePartial(connection: ConnectionState, bytes: Uint8Array): number {
  let at = 0;
  while (connection.phase !== Phase.closed) {
    const size = nextSize(connection, connection.partialFrame, 0, connection.partialLength);
    if (size <= connection.partialLength) {
      connection.partialLength = 0;
      readNext(connection, connection.partialFrame, 0, size);
      break;
    }
    const until = Math.min(bytes.length, at + size - connection.partialLength);
    if (until === at) break;
    appendPartial(connection, bytes, at, until);
    at = until;
  }
  return at;
}

function appendPartial(
  connection: ConnectionState,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  const length = connection.partialLength + end - start;
  if (length > connection.partialFrame.length) {
    const wider = new Uint8Array(Math.max(MIN_PARTIAL_BYTES, length * 2));
    wider.set(connection.partialFrame.subarray(0, connection.partialLength));
    connection.partialFrame = wider;
  }
  connection.partialFrame.set(bytes.subarray(start, end), connection.partialLength);
  connection.partialLength = length;
}

const MIN_PARTIAL_BYTES = 64;

/** Ends a connection whose current frame or header block has taken too long. */
export function endSlowFrame(connection: ConnectionState): void {
  const { partialLength, partialSinceMs, pendingHeaders, nowMs } = connection;
  const slowFrame = partialLength > 0 && nowMs - partialSinceMs >= SLOW_FRAME_MS;
  const slowBlock = pendingHeaders !== undefined && nowMs - pendingHeaders.sinceMs >= SLOW_FRAME_MS;
  if (slowFrame || slowBlock) {
    const reason = 'a frame or header block is not completed';
    failConnection(connection, ErrorCode.enhanceYourCalm, reason, 'SLOW_FRAME_MS');
  }
}

/** Bytes of the frame (or the preface) that begins at `at`, as far as the `available` bytes tell. */
function nextSize(
  connection: ConnectionState,
  bytes: Uint8Array,
  at: number,
  available: number,
): number {
  if (connection.phase === Phase.preface) return prefaceSize(connection, bytes, at, available);
  if (available < FRAME_HEADER_BYTES) return FRAME_HEADER_BYTES;
  const length = uint24At(bytes, at);
  if (length > MAX_FRAME_BYTES) {
    failConnection(connection, ErrorCode.frameSizeError, 'a frame is too long');
  }
  return FRAME_HEADER_BYTES + length;
}

/** The client's preface (RFC 9113 §3.4); the first byte that differs ends the connection. */
function prefaceSize(
  connection: ConnectionState,
  bytes: Uint8Array,
  at: number,
  available: number,
): number {
  const received = Math.min(available, CLIENT_PREFACE.length);
  for (let i = 0; i < received; i++) {
    if (bytes[at + i] !== CLIENT_PREFACE[i]) {
      const reason = 'the client preface is not that of http/2';
      failConnection(connection, ErrorCode.protocolError, reason);
      break;
    }
  }
  return CLIENT_PREFACE.length;
}

function readNext(connection: ConnectionState, bytes: Uint8Array, at: number, size: number): void {
  if (connection.phase === Phase.closed) return;
  if (connection.phase === Phase.preface) connection.phase = Phase.settings;
  else readFrame(connection, bytes, at, at + size);
}
