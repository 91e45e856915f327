import { putBytes } from '../bytes';
import type { MessageEncoder, UnaryBlocks } from './api';
import { CloseReason } from './stream-table';
import type { ConnectionState, StreamState } from './connection-state';
import { forgetStream } from './errors';
import { finishResponse, sendOrQueue } from './flow-control';
import {
  Flag,
  FRAME_HEADER_BYTES,
  frameKind,
  FrameType,
  MAX_FRAME_BYTES,
  putFrameHeader,
} from './frames';
import { reserve } from './output';
import { sendWindowOf, useSendWindow, writeHeaders, writeRstStream } from './write-frames';

/**
 * Whether the owner may still send on a stream. False once it is closed or its response has its end, and after an overflow of
 * the queue, which is about to end the connection: no response may end without its middle.
 */
function isSendable(connection: ConnectionState, stream: StreamState): boolean {
  return !stream.closed && !stream.localClosed && !connection.queueOverflowed;
}

export function sendHeaders(
  connection: ConnectionState,
  stream: StreamState,
  block: Uint8Array,
  endStream: boolean,
): void {
  if (!isSendable(connection, stream)) return;
  stream.localClosed = endStream;
  if (stream.queued !== undefined) {
    // After DATA there can only be trailers.
    if (endStream) stream.queued.trailers = block;
    return;
  }
  writeHeaders(connection, stream.id, block, endStream);
  if (endStream) finishResponse(connection, stream);
}

export function sendData(
  connection: ConnectionState,
  stream: StreamState,
  bytes: Uint8Array,
  endStream: boolean,
): void {
  if (!isSendable(connection, stream)) return;
  stream.localClosed = endStream;
  sendOrQueue(connection, stream, bytes, endStream);
}

const HEADERS = frameKind(FrameType.headers, Flag.endHeaders);
const TRAILERS = frameKind(FrameType.headers, Flag.endHeaders | Flag.endStream);
const DATA = frameKind(FrameType.data, Flag.none);

/** HEADERS, DATA and trailing HEADERS: straight into the output where the windows allow it. */
export function sendUnary<M>(
  connection: ConnectionState,
  stream: StreamState,
  blocks: UnaryBlocks,
  message: M,
  encoder: MessageEncoder<M>,
): void {
  if (!isSendable(connection, stream)) return;
  const maxBytes = encoder.maxBytes(message);
  if (!fitsAtOnce(connection, stream, blocks, maxBytes)) {
    const data = new Uint8Array(maxBytes);
    sendPieces(connection, stream, blocks, data.subarray(0, encoder.write(message, data, 0)));
    return;
  }
  const { headers, trailers } = blocks;
  const { output } = connection;
  const framesBytes = 3 * FRAME_HEADER_BYTES + headers.length + trailers.length;
  const start = reserve(output, framesBytes + maxBytes);
  output.end = start; // Grows only once everything is written: `write` may throw.
  const { bytes } = output;
  const dataHeader = putBlock(bytes, start, HEADERS, stream.id, headers);
  const dataStart = dataHeader + FRAME_HEADER_BYTES;
  const dataEnd = encoder.write(message, bytes, dataStart);
  putFrameHeader(bytes, dataHeader, dataEnd - dataStart, DATA, stream.id);
  output.end = putBlock(bytes, dataEnd, TRAILERS, stream.id, trailers);
  useSendWindow(connection, stream, dataEnd - dataStart);
  stream.localClosed = true;
  finishResponse(connection, stream);
}

function sendPieces(
  connection: ConnectionState,
  stream: StreamState,
  { headers, trailers }: UnaryBlocks,
  data: Uint8Array,
): void {
  sendHeaders(connection, stream, headers, false);
  sendData(connection, stream, data, false);
  sendHeaders(connection, stream, trailers, true);
}

/** Whether a unary response with this many bytes of DATA needs no queue and no CONTINUATION. */
function fitsAtOnce(
  connection: ConnectionState,
  stream: StreamState,
  { headers, trailers }: UnaryBlocks,
  dataBytes: number,
): boolean {
  return (
    stream.queued === undefined &&
    !connection.owesSizeUpdate &&
    dataBytes <= sendWindowOf(connection, stream) &&
    dataBytes <= MAX_FRAME_BYTES &&
    headers.length <= MAX_FRAME_BYTES &&
    trailers.length <= MAX_FRAME_BYTES
  );
}

function putBlock(
  bytes: Uint8Array,
  at: number,
  kind: number,
  streamId: number,
  block: Uint8Array,
): number {
  const payload = putFrameHeader(bytes, at, block.length, kind, streamId);
  putBytes(bytes, payload, block);
  return payload + block.length;
}

export function resetStream(
  connection: ConnectionState,
  stream: StreamState,
  errorCode: number,
): void {
  if (stream.closed) return;
  forgetStream(connection, stream, CloseReason.resetByUs);
  writeRstStream(connection, stream.id, errorCode);
}
