import { putUint32 } from './octets';

/** RFC 9113 §6. */
export const FrameType = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goAway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

export const Flag = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

/** RFC 9113 §4.1. */
export const FRAME_HEADER_BYTES = 9;
/** What every peer must take, and all that we take: SETTINGS_MAX_FRAME_SIZE stays as it is (RFC 9113 §4.2). */
export const MAX_FRAME_BYTES = 16_384;
export const MAX_STREAM_ID = 0x7fffffff;
export const CONNECTION_STREAM = 0;

export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Even ids are the server's, and we open none: they stay idle for ever, and so does stream 0 (RFC 9113 §5.1.1). */
export function isServerStream(streamId: number): boolean {
  return (streamId & 1) === 0;
}

/** Writes a frame header at `at` and returns where the payload begins. */
export function putFrameHeader(
  bytes: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): number {
  bytes[at] = length >>> 16;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  putUint32(bytes, at + 5, streamId);
  return at + FRAME_HEADER_BYTES;
}
