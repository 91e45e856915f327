import type { ConnectionState } from './connection-state';
import { CONNECTION_STREAM, Flag, FRAME_HEADER_BYTES, FrameType, putFrameHeader } from './frames';
import { putOctets, putUint32 } from './octets';
import { reserve } from './output';

export function writeRstStream<S>(
  connection: ConnectionState<S>,
  streamId: number,
  errorCode: number,
): void {
  writeNumber(connection, FrameType.rstStream, streamId, errorCode);
}

export function writeWindowUpdate<S>(
  connection: ConnectionState<S>,
  streamId: number,
  increment: number,
): void {
  writeNumber(connection, FrameType.windowUpdate, streamId, increment);
}

export function writeSettings<S>(connection: ConnectionState<S>, payload: Uint8Array): void {
  const at = writeControl(connection, FrameType.settings, 0, CONNECTION_STREAM, payload.length);
  putOctets(connection.output.bytes, at, payload);
}

export function writeSettingsAck<S>(connection: ConnectionState<S>): void {
  writeControl(connection, FrameType.settings, Flag.ack, CONNECTION_STREAM, 0);
}

/** PING or its answer, with eight octets of `bytes` from `at` on. */
export function writePing<S>(
  connection: ConnectionState<S>,
  flags: number,
  bytes: Uint8Array,
  at: number,
): void {
  const payload = writeControl(connection, FrameType.ping, flags, CONNECTION_STREAM, 8);
  putOctets(connection.output.bytes, payload, bytes.subarray(at, at + 8));
}

/** RFC 9113 §6.8; `reason` is the debug data, printable ASCII. */
export function writeGoAway<S>(
  connection: ConnectionState<S>,
  lastStreamId: number,
  errorCode: number,
  reason: string,
): void {
  const debug = Buffer.from(reason, 'latin1');
  const length = 8 + debug.length;
  const payload = writeControl(connection, FrameType.goAway, 0, CONNECTION_STREAM, length);
  putUint32(connection.output.bytes, payload, lastStreamId);
  putUint32(connection.output.bytes, payload + 4, errorCode);
  putOctets(connection.output.bytes, payload + 8, debug);
}

function writeNumber<S>(
  connection: ConnectionState<S>,
  type: number,
  streamId: number,
  number: number,
): void {
  const payload = writeControl(connection, type, 0, streamId, 4);
  putUint32(connection.output.bytes, payload, number);
}

function writeControl<S>(
  connection: ConnectionState<S>,
  type: number,
  flags: number,
  streamId: number,
  length: number,
): number {
  connection.waitingReplies++;
  const at = reserve(connection.output, FRAME_HEADER_BYTES + length);
  return putFrameHeader(connection.output.bytes, at, length, type, flags, streamId);
}
