import type { MessageWriter } from './api';
import { finishAnswer, fitsAtOnce, writeUnary } from './answer';
import { Ending } from './closed-streams';
import type { ConnectionState, StreamState } from './connection-state';
import { forgetStream } from './failures';
import { sendOrQueue } from './flow-control';
import { writeHeaders } from './frame-writer';
import { putOctets } from './octets';
import { writeRstStream } from './replies';

/**
 * What the owner sends. A stream that is closed, or whose answer has its end already, takes nothing; neither does a
 * connection that is about to end because something could not be queued: no answer may end without its middle.
 */
function takesMore<S>(connection: ConnectionState<S>, stream: StreamState<S>): boolean {
  return !stream.closed && !stream.answered && !connection.queueOverflown;
}

export function sendHeaders<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  block: Uint8Array,
  endStream: boolean,
): void {
  if (!takesMore(connection, stream)) return;
  stream.answered = endStream;
  if (stream.queued !== undefined) {
    // Behind DATA there can only be trailers.
    if (endStream) stream.queued.trailers = block;
    return;
  }
  writeHeaders(connection, stream.id, block, endStream);
  if (endStream) finishAnswer(connection, stream);
}

export function sendData<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  bytes: Uint8Array,
  endStream: boolean,
): void {
  if (!takesMore(connection, stream)) return;
  stream.answered = endStream;
  sendOrQueue(connection, stream, bytes, endStream);
}

export function sendUnary<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  headersBlock: Uint8Array,
  data: Uint8Array,
  trailersBlock: Uint8Array,
): void {
  sendUnaryMessage(connection, stream, headersBlock, data, data.length, copyMessage, trailersBlock);
}

export function sendUnaryMessage<S, M>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  headersBlock: Uint8Array,
  message: M,
  maxBytes: number,
  write: MessageWriter<M>,
  trailersBlock: Uint8Array,
): void {
  if (!takesMore(connection, stream)) return;
  if (fitsAtOnce(connection, stream, headersBlock, maxBytes, trailersBlock)) {
    writeUnary(connection, stream, headersBlock, message, maxBytes, write, trailersBlock);
    return;
  }
  const data = new Uint8Array(maxBytes);
  const end = write(message, data, 0);
  sendHeaders(connection, stream, headersBlock, false);
  sendData(connection, stream, data.subarray(0, end), false);
  sendHeaders(connection, stream, trailersBlock, true);
}

function copyMessage(message: Uint8Array, out: Uint8Array, at: number): number {
  putOctets(out, at, message);
  return at + message.length;
}

export function resetStream<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  errorCode: number,
): void {
  if (stream.closed) return;
  forgetStream(connection, stream, Ending.resetByUs);
  writeRstStream(connection, stream.id, errorCode);
}
