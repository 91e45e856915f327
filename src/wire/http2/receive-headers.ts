import { MAX_BLOCK_BYTES, MAX_BLOCK_FRAMES } from './budgets';
import type { ConnectionState, OpenBlock } from './connection-state';
import { ErrorCode } from './error-codes';
import { failConnection } from './failures';
import { Flag, FrameType, isServerStream } from './frames';
import { copyOctets, uint31At } from './octets';
import { BAD_PADDING, endOfContent, startOfContent } from './padding';
import { takeHeaderBlock } from './requests';

/** Stream Dependency and Weight, deprecated but still there (RFC 9113 §6.2). */
const PRIORITY_FIELDS_BYTES = 5;

/** HEADERS (RFC 9113 §6.2): the whole header block, or its beginning. */
export function receiveHeaders<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  flags: number,
  streamId: number,
): void {
  if (isServerStream(streamId)) {
    failConnection(connection, ErrorCode.protocolError, 'HEADERS on a server-initiated stream id');
    return;
  }
  const blockEnd = endOfContent(connection, bytes, start, end, flags);
  if (blockEnd === BAD_PADDING) return;
  let blockStart = startOfContent(start, flags);
  let dependsOnItself = false;
  if ((flags & Flag.priority) !== 0) {
    dependsOnItself = uint31At(bytes, blockStart) === streamId;
    blockStart += PRIORITY_FIELDS_BYTES;
  }
  if (blockStart > blockEnd) {
    failConnection(
      connection,
      ErrorCode.frameSizeError,
      'a headers frame is too short for its flags',
    );
    return;
  }
  const endStream = (flags & Flag.endStream) !== 0;
  if ((flags & Flag.endHeaders) !== 0) {
    takeHeaderBlock(connection, bytes, blockStart, blockEnd, streamId, endStream, dependsOnItself);
    return;
  }
  connection.openBlock = {
    streamId,
    endStream,
    dependsOnItself,
    bytes: copyOctets(bytes, blockStart, blockEnd),
    length: blockEnd - blockStart,
    frames: 1,
    sinceMs: connection.nowMs,
  };
}

/** CONTINUATION (RFC 9113 §6.10). */
export function receiveContinuation<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  flags: number,
): void {
  const block = connection.openBlock;
  if (block === undefined) {
    failConnection(connection, ErrorCode.protocolError, 'a continuation continues nothing');
    return;
  }
  block.frames++;
  if (block.frames > MAX_BLOCK_FRAMES || block.length + (end - start) > MAX_BLOCK_BYTES) {
    failConnection(
      connection,
      ErrorCode.enhanceYourCalm,
      'a header block is too long',
      block.frames > MAX_BLOCK_FRAMES ? 'MAX_BLOCK_FRAMES' : 'MAX_BLOCK_BYTES',
    );
    return;
  }
  append(block, bytes.subarray(start, end));
  if ((flags & Flag.endHeaders) === 0) return;
  connection.openBlock = undefined;
  const { streamId, endStream, dependsOnItself } = block;
  takeHeaderBlock(connection, block.bytes, 0, block.length, streamId, endStream, dependsOnItself);
}

function append(block: OpenBlock, fragment: Uint8Array): void {
  const length = block.length + fragment.length;
  if (length > block.bytes.length) {
    const wider = new Uint8Array(length * 2);
    wider.set(block.bytes.subarray(0, block.length));
    block.bytes = wider;
  }
  block.bytes.set(fragment, block.length);
  block.length = length;
}

/** Between HEADERS and the last CONTINUATION nothing else may come (RFC 9113 §4.3). */
export function interruptsBlock<S>(
  connection: ConnectionState<S>,
  type: number,
  streamId: number,
): boolean {
  const block = connection.openBlock;
  if (block === undefined) return false;
  return type !== FrameType.continuation || streamId !== block.streamId;
}
