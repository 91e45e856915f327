import { putUint32, uint32At } from '../bytes';
import { Phase, type ConnectionState } from './connection-state';
import { ErrorCode, Flag, MAX_STREAM_ID } from './frames';
import { writeGoAway, writePing } from './write-frames';

/** The first half of our PINGs' data is their purpose; the second half is the owner's number. */
const OWNERS_PING = 0x6f776e65;
const DRAIN_PING = 0x64726169;
const PING_BYTES = 8;

export function sendPing(connection: ConnectionState, opaque: number): void {
  if (connection.phase !== Phase.closed) writeOwnPing(connection, OWNERS_PING, opaque);
}

/**
 * Graceful end (RFC 9113 §6.8): the first GOAWAY asks for no more streams but accepts those in flight; the reply to the PING
 * says that there are none left.
 */
export function startDrain(connection: ConnectionState, reason: string): void {
  if (connection.draining || connection.phase === Phase.closed) return;
  connection.draining = true;
  writeGoAway(connection, MAX_STREAM_ID, ErrorCode.noError, reason);
  writeOwnPing(connection, DRAIN_PING, 0);
}

/** The second GOAWAY: streams above the last one that we accepted are ignored. */
export function finishDrain(connection: ConnectionState): void {
  if (connection.lastGoAwaySent || connection.phase === Phase.closed) return;
  connection.draining = true;
  connection.lastGoAwaySent = true;
  connection.ignoreAboveId = connection.lastTakenId;
  writeGoAway(connection, connection.lastTakenId, ErrorCode.noError, '');
}

/** Finishes the drain if this PING ACK is the one that `startDrain` waits for; false: it is not. */
export function receiveDrainPingAck(
  connection: ConnectionState,
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

function writeOwnPing(connection: ConnectionState, purpose: number, opaque: number): void {
  const payload = new Uint8Array(PING_BYTES);
  putUint32(payload, 0, purpose);
  putUint32(payload, 4, opaque);
  writePing(connection, Flag.none, payload, 0);
}
