import { byteAt, putUint32, uint31At } from '../bytes';

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
  none: 0,
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

/** RFC 9113 §7. */
export const ErrorCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  connectError: 0xa,
  enhanceYourCalm: 0xb,
  inadequateSecurity: 0xc,
  http11Required: 0xd,
} as const;

/** RFC 9113 §4.1. */
export const FRAME_HEADER_BYTES = 9;
/** The size that every peer must accept, and the most that we accept: SETTINGS_MAX_FRAME_SIZE keeps its default (RFC 9113 §4.2). */
export const MAX_FRAME_BYTES = 16_384;
export const MAX_STREAM_ID = 0x7fffffff;
export const CONNECTION_STREAM = 0;

export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Even ids are the server's, and we open none: they stay idle for ever, as does stream 0 (RFC 9113 §5.1.1). */
export function isServerStream(streamId: number): boolean {
  return (streamId & 1) === 0;
}

/** The type of the frame that begins at `at`. */
export function typeAt(bytes: Uint8Array, at: number): number {
  return byteAt(bytes, at + 3);
}

/** The flags of the frame that begins at `at`. */
export function flagsAt(bytes: Uint8Array, at: number): number {
  return byteAt(bytes, at + 4);
}

/** The stream of the frame that begins at `at`. */
export function streamIdAt(bytes: Uint8Array, at: number): number {
  return uint31At(bytes, at + 5);
}

/** Type and flags as the two bytes of a frame header. */
export function frameKind(type: number, flags: number): number {
  return (type << 8) | flags;
}

/** Writes a frame header at `at` and returns where the payload begins. */
export function putFrameHeader(
  bytes: Uint8Array,
  at: number,
  length: number,
  kind: number,
  streamId: number,
): number {
  bytes[at] = length >>> 16;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length;
  bytes[at + 3] = kind >>> 8;
  bytes[at + 4] = kind;
  putUint32(bytes, at + 5, streamId);
  return at + FRAME_HEADER_BYTES;
}
