import type { ConnectionState, StreamState } from './connection-state';
import { Flag, FRAME_HEADER_BYTES, FrameType, MAX_FRAME_BYTES, putFrameHeader } from './frames';
import { putOctets } from './octets';
import { reserve } from './output';

/** Dynamic Table Size Update to 0 (RFC 7541 §6.3): our blocks never use the table. */
const SIZE_UPDATE_ZERO = Uint8Array.of(0x20);

/** HEADERS, and CONTINUATION where a block is longer than a frame (RFC 9113 §6.2, §6.10). */
export function writeHeaders<S>(
  connection: ConnectionState<S>,
  streamId: number,
  block: Uint8Array,
  endStream: boolean,
): void {
  const endFlag = endStream ? Flag.endStream : 0;
  const whole = connection.owesSizeUpdate ? Buffer.concat([SIZE_UPDATE_ZERO, block]) : block;
  connection.owesSizeUpdate = false;
  let type: number = FrameType.headers;
  let at = 0;
  do {
    const fragment = whole.subarray(at, at + MAX_FRAME_BYTES);
    at += fragment.length;
    const flags = at === whole.length ? Flag.endHeaders : 0;
    writeFrame(
      connection,
      type,
      type === FrameType.headers ? flags | endFlag : flags,
      streamId,
      fragment,
    );
    type = FrameType.continuation;
  } while (at < whole.length);
}

/** DATA from `from` on as far as both windows allow; returns up to where. */
export function writeData<S>(
  connection: ConnectionState<S>,
  stream: StreamState<S>,
  bytes: Uint8Array,
  from: number,
  endStream: boolean,
): number {
  if (bytes.length === 0 && endStream) {
    writeFrame(connection, FrameType.data, Flag.endStream, stream.id, bytes);
  }
  let at = from;
  while (at < bytes.length) {
    const window = Math.min(
      connection.sendWindow,
      connection.peerInitialWindow + stream.sendCredit,
    );
    if (window <= 0) break;
    const size = Math.min(bytes.length - at, window, MAX_FRAME_BYTES);
    const last = endStream && at + size === bytes.length;
    const flags = last ? Flag.endStream : 0;
    writeFrame(connection, FrameType.data, flags, stream.id, bytes.subarray(at, at + size));
    connection.sendWindow -= size;
    stream.sendCredit -= size;
    at += size;
  }
  return at;
}

function writeFrame<S>(
  connection: ConnectionState<S>,
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array,
): void {
  const { output } = connection;
  const at = reserve(output, FRAME_HEADER_BYTES + payload.length);
  putOctets(
    output.bytes,
    putFrameHeader(output.bytes, at, payload.length, type, flags, streamId),
    payload,
  );
}
