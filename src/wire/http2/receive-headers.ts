import { copyBytes, uint31At } from '../bytes';
import { MAX_BLOCK_BYTES, MAX_BLOCK_FRAMES } from './budgets';
import type { PendingHeaders, ReceiveFrame } from './connection-state';
import { failConnection } from './errors';
import { ErrorCode, Flag, flagsAt, FRAME_HEADER_BYTES, isServerStream, streamIdAt } from './frames';
import { BAD_PADDING, contentEnd, contentStart } from './receive-data';
import { decodeHeaders, receiveHeaderList } from './requests';

/** Stream Dependency and Weight, deprecated but still in use (RFC 9113 §6.2). */
const PRIORITY_FIELDS_BYTES = 5;

/** HEADERS (RFC 9113 §6.2): a whole header block, or its beginning. */
export const receiveHeaders: ReceiveFrame = (connection, bytes, at, end) => {
  const streamId = streamIdAt(bytes, at);
  if (isServerStream(streamId)) {
    failConnection(connection, ErrorCode.protocolError, 'HEADERS on a server-initiated stream id');
    return;
  }
  const blockEnd = contentEnd(connection, bytes, at, end);
  if (blockEnd === BAD_PADDING) return;
  const flags = flagsAt(bytes, at);
  let start = contentStart(bytes, at);
  let dependsOnItself = false;
  if ((flags & Flag.priority) !== 0) {
    dependsOnItself = uint31At(bytes, start) === streamId;
    start += PRIORITY_FIELDS_BYTES;
  }
  if (start > blockEnd) {
    const reason = 'a headers frame is too short for its flags';
    failConnection(connection, ErrorCode.frameSizeError, reason);
    return;
  }
  const endStream = (flags & Flag.endStream) !== 0;
  if ((flags & Flag.endHeaders) !== 0) {
    const list = decodeHeaders(connection, bytes, start, blockEnd);
    if (list !== undefined) {
      receiveHeaderList(connection, list, streamId, endStream, dependsOnItself);
    }
    return;
  }
  connection.pendingHeaders = {
    streamId,
    endStream,
    dependsOnItself,
    bytes: copyBytes(bytes, start, blockEnd),
    length: blockEnd - start,
    frames: 1,
    sinceMs: connection.nowMs,
  };
};

/** CONTINUATION (RFC 9113 §6.10). */
export const receiveContinuation: ReceiveFrame = (connection, bytes, at, end) => {
  const block = connection.pendingHeaders;
  if (block === undefined) {
    failConnection(connection, ErrorCode.protocolError, 'a continuation without a header block');
    return;
  }
  const fragment = bytes.subarray(at + FRAME_HEADER_BYTES, end);
  block.frames++;
  if (block.frames > MAX_BLOCK_FRAMES || block.length + fragment.length > MAX_BLOCK_BYTES) {
    const budget = block.frames > MAX_BLOCK_FRAMES ? 'MAX_BLOCK_FRAMES' : 'MAX_BLOCK_BYTES';
    const reason = 'a header block is too long';
    failConnection(connection, ErrorCode.enhanceYourCalm, reason, budget);
    return;
  }
  append(block, fragment);
  if ((flagsAt(bytes, at) & Flag.endHeaders) === 0) return;
  connection.pendingHeaders = undefined;
  const list = decodeHeaders(connection, block.bytes, 0, block.length);
  if (list === undefined) return;
  receiveHeaderList(connection, list, block.streamId, block.endStream, block.dependsOnItself);
};

function append(block: PendingHeaders, fragment: Uint8Array): void {
  const length = block.length + fragment.length;
  if (length > block.bytes.length) {
    const wider = new Uint8Array(length * 2);
    wider.set(block.bytes.subarray(0, block.length));
    block.bytes = wider;
  }
  block.bytes.set(fragment, block.length);
  block.length = length;
}
