import type { ConnectionState } from './connection-state';
import { Phase } from './connection-state';
import { ErrorCode } from './error-codes';
import { MAX_STREAM_ID } from './frames';
import { putUint32, uint32At } from './octets';
import { writeGoAway, writePing } from './replies';

/** The first half of our PINGs' octets says what for; the second half is the owner's number. */
const OWNERS_PING = 0x6f776e65;
const DRAIN_PING = 0x64726169;
const PING_BYTES = 8;
const NO_FLAGS = 0;

export function sendPing<S>(connection: ConnectionState<S>, opaque: number): void {
  if (connection.phase !== Phase.closed) writeOwnPing(connection, OWNERS_PING, opaque);
}

/**
 * Graceful end (RFC 9113 §6.8): the first GOAWAY asks for no more streams but takes those that are under way; the PING's
 * answer says that there are none.
 */
export function startDrain<S>(connection: ConnectionState<S>, reason: string): void {
  if (connection.draining || connection.phase === Phase.closed) return;
  connection.draining = true;
  writeGoAway(connection, MAX_STREAM_ID, ErrorCode.noError, reason);
  writeOwnPing(connection, DRAIN_PING, 0);
}

/** The second GOAWAY: streams above the last one that we took are ignored. */
export function finishDrain<S>(connection: ConnectionState<S>): void {
  if (connection.lastGoAwaySent || connection.phase === Phase.closed) return;
  connection.draining = true;
  connection.lastGoAwaySent = true;
  connection.ignoreAboveId = connection.lastTakenId;
  writeGoAway(connection, connection.lastTakenId, ErrorCode.noError, '');
}

/** Whether this PING ACK is the one that `startDrain` waits for. */
export function answerDrainPing<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  at: number,
): boolean {
  if (!connection.draining || connection.lastGoAwaySent) return false;
  if (uint32At(bytes, at) !== DRAIN_PING) return false;
  finishDrain(connection);
  return true;
}

export function isOwnersPing(bytes: Uint8Array, at: number): boolean {
  return uint32At(bytes, at) === OWNERS_PING;
}

export function opaqueOf(bytes: Uint8Array, at: number): number {
  return uint32At(bytes, at + 4);
}

function writeOwnPing<S>(connection: ConnectionState<S>, purpose: number, opaque: number): void {
  const payload = new Uint8Array(PING_BYTES);
  putUint32(payload, 0, purpose);
  putUint32(payload, 4, opaque);
  writePing(connection, NO_FLAGS, payload, 0);
}
