import type { MessageWriter } from './api';
import { Ending } from './closed-streams';
import type { ConnectionState, StreamState } from './connection-state';
import { ErrorCode } from './error-codes';
import { forgetStream } from './failures';
import { Flag, FRAME_HEADER_BYTES, FrameType, MAX_FRAME_BYTES, putFrameHeader } from './frames';
import { putOctets } from './octets';
import { reserve } from './output';
import { writeRstStream } from './replies';

/**
 * END_STREAM is written. When the request is not complete yet, the rest of it is of no use: RST_STREAM with NO_ERROR
 * says so (RFC 9113 §8.1), and the stream is over on both sides.
 */
export function finishAnswer<S>(connection: ConnectionState<S>, stream: StreamState<S>): void {
  connection.answerCount++;
  if (stream.remoteEnded) {
    forgetStream(connection, stream, Ending.ended);
  } else {
    forgetStream(connection, stream, Ending.resetByUs);
    writeRstStream(connection, stream.id, ErrorCode.noError);
  }
}

/** Whether a unary answer with so much DATA can go out in one go. */
export function fitsAtOnce<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  headersBlock: Uint8Array,
  dataBytes: number,
  trailersBlock: Uint8Array,
): boolean {
  return (
    stream.queued === undefined &&
    !connection.owesSizeUpdate &&
    dataBytes <= connection.sendWindow &&
    dataBytes <= connection.peerInitialWindow + stream.sendCredit &&
    dataBytes <= MAX_FRAME_BYTES &&
    headersBlock.length <= MAX_FRAME_BYTES &&
    trailersBlock.length <= MAX_FRAME_BYTES
  );
}

/** HEADERS, DATA and trailing HEADERS into the output at once; `fitsAtOnce` has said that they may. */
export function writeUnary<S, M>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  headersBlock: Uint8Array,
  message: M,
  maxBytes: number,
  write: MessageWriter<M>,
  trailersBlock: Uint8Array,
): void {
  const { output } = connection;
  const frames = 3 * FRAME_HEADER_BYTES + headersBlock.length + trailersBlock.length;
  const start = reserve(output, frames + maxBytes);
  output.end = start; // nothing is there before all is: `write` may throw
  const { bytes } = output;
  const dataHeader = putHeaders(bytes, start, stream.id, headersBlock, 0);
  const dataStart = dataHeader + FRAME_HEADER_BYTES;
  const dataEnd = write(message, bytes, dataStart);
  const size = dataEnd - dataStart;
  putFrameHeader(bytes, dataHeader, size, FrameType.data, 0, stream.id);
  output.end = putHeaders(bytes, dataEnd, stream.id, trailersBlock, Flag.endStream);
  connection.sendWindow -= size;
  stream.sendCredit -= size;
  stream.answered = true;
  finishAnswer(connection, stream);
}

function putHeaders(
  bytes: Uint8Array,
  at: number,
  streamId: number,
  block: Uint8Array,
  endFlag: number,
): number {
  const flags = Flag.endHeaders | endFlag;
  const payload = putFrameHeader(bytes, at, block.length, FrameType.headers, flags, streamId);
  putOctets(bytes, payload, block);
  return payload + block.length;
}
