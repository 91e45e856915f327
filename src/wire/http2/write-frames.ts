import { putBytes, putUint32 } from '../bytes';
import type { ConnectionState, StreamState } from './connection-state';
import {
  CONNECTION_STREAM,
  Flag,
  FRAME_HEADER_BYTES,
  frameKind,
  FrameType,
  MAX_FRAME_BYTES,
  putFrameHeader,
} from './frames';
import { reserve } from './output';

/** Dynamic Table Size Update to 0 (RFC 7541 §6.3): our blocks never use the table. */
const SIZE_UPDATE_ZERO = Uint8Array.of(0x20);

/** HEADERS, and CONTINUATION where a block is longer than a frame (RFC 9113 §6.2, §6.10). */
export function writeHeaders(
  connection: ConnectionState,
  streamId: number,
  block: Uint8Array,
  endStream: boolean,
): void {
  const whole = connection.owesSizeUpdate ? Buffer.concat([SIZE_UPDATE_ZERO, block]) : block;
  connection.owesSizeUpdate = false;
  let kind = frameKind(FrameType.headers, endStream ? Flag.endStream : Flag.none);
  let at = 0;
  do {
    const fragment = whole.subarray(at, at + MAX_FRAME_BYTES);
    at += fragment.length;
    writeFrame(connection, at === whole.length ? kind | Flag.endHeaders : kind, streamId, fragment);
    kind = frameKind(FrameType.continuation, Flag.none);
  } while (at < whole.length);
}

/** DATA from `from` on as far as both windows allow; returns the end of what was written. */
export function writeData(
  connection: ConnectionState,
  stream: StreamState,
  bytes: Uint8Array,
  from: number,
  endStream: boolean,
): number {
  if (bytes.length === 0 && endStream) {
    writeFrame(connection, frameKind(FrameType.data, Flag.endStream), stream.id, bytes);
  }
  let at = from;
  while (at < bytes.length) {
    const window = sendWindowOf(connection, stream);
    if (window <= 0) break;
    const size = Math.min(bytes.length - at, window, MAX_FRAME_BYTES);
    const flags = endStream && at + size === bytes.length ? Flag.endStream : Flag.none;
    const kind = frameKind(FrameType.data, flags);
    writeFrame(connection, kind, stream.id, bytes.subarray(at, at + size));
    useSendWindow(connection, stream, size);
    at += size;
  }
  return at;
}

/** Bytes of DATA that both windows allow for the stream now; zero or less: none. */
export function sendWindowOf(connection: ConnectionState, stream: StreamState): number {
  return Math.min(connection.sendWindow, streamWindowOf(connection, stream));
}

/** The stream's own window for what we send; SETTINGS can make it negative (RFC 9113 §6.9.2). */
export function streamWindowOf(connection: ConnectionState, stream: StreamState): number {
  return connection.peerInitialWindow + stream.sendWindowDelta;
}

export function useSendWindow(
  connection: ConnectionState,
  stream: StreamState,
  bytes: number,
): void {
  connection.sendWindow -= bytes;
  stream.sendWindowDelta -= bytes;
}

function writeFrame(
  connection: ConnectionState,
  kind: number,
  streamId: number,
  payload: Uint8Array,
): void {
  const { output } = connection;
  const at = reserve(output, FRAME_HEADER_BYTES + payload.length);
  putBytes(output.bytes, putFrameHeader(output.bytes, at, payload.length, kind, streamId), payload);
}

export function writeRstStream(
  connection: ConnectionState,
  streamId: number,
  errorCode: number,
): void {
  writeNumber(connection, FrameType.rstStream, streamId, errorCode);
}

export function writeWindowUpdate(
  connection: ConnectionState,
  streamId: number,
  increment: number,
): void {
  writeNumber(connection, FrameType.windowUpdate, streamId, increment);
}

export function writeSettings(connection: ConnectionState, payload: Uint8Array): void {
  const kind = frameKind(FrameType.settings, Flag.none);
  const at = writeControl(connection, kind, CONNECTION_STREAM, payload.length);
  putBytes(connection.output.bytes, at, payload);
}

export function writeSettingsAck(connection: ConnectionState): void {
  writeControl(connection, frameKind(FrameType.settings, Flag.ack), CONNECTION_STREAM, 0);
}

/** PING, or with the flag `ack` the reply to one, with the eight bytes from `at` on. */
export function writePing(
  connection: ConnectionState,
  flags: number,
  bytes: Uint8Array,
  at: number,
): void {
  const payload = writeControl(connection, frameKind(FrameType.ping, flags), CONNECTION_STREAM, 8);
  putBytes(connection.output.bytes, payload, bytes.subarray(at, at + 8));
}

/** RFC 9113 §6.8; `reason` is the debug data, printable ASCII. */
export function writeGoAway(
  connection: ConnectionState,
  lastStreamId: number,
  errorCode: number,
  reason: string,
): void {
  const debug = Buffer.from(reason, 'latin1');
  const kind = frameKind(FrameType.goAway, Flag.none);
  const payload = writeControl(connection, kind, CONNECTION_STREAM, 8 + debug.length);
  putUint32(connection.output.bytes, payload, lastStreamId);
  putUint32(connection.output.bytes, payload + 4, errorCode);
  putBytes(connection.output.bytes, payload + 8, debug);
}

function writeNumber(
  connection: ConnectionState,
  type: number,
  streamId: number,
  number: number,
): void {
  const payload = writeControl(connection, frameKind(type, Flag.none), streamId, 4);
  putUint32(connection.output.bytes, payload, number);
}

/** Writes the header of a reply and reserves its payload; returns where that begins. */
function writeControl(
  connection: ConnectionState,
  kind: number,
  streamId: number,
  length: number,
): number {
  connection.waitingReplies++;
  const at = reserve(connection.output, FRAME_HEADER_BYTES + length);
  return putFrameHeader(connection.output.bytes, at, length, kind, streamId);
}
