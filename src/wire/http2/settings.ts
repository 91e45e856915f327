import type { Http2Options } from './api';
import { INITIAL_WINDOW_BYTES, MAX_WINDOW_BYTES } from './connection-state';
import { ErrorCode } from './error-codes';
import { MAX_FRAME_BYTES } from './frames';
import { INITIAL_TABLE_BYTES } from './hpack/decoder';
import { octetAt, putUint32, uint32At } from './octets';

/** RFC 9113 §6.5.2 and RFC 8441 §3. */
export const Setting = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
  enableConnectProtocol: 0x8,
} as const;

export const SETTING_BYTES = 6;
const LARGEST_FRAME_SIZE = 0xffffff;

/** The payload of our SETTINGS: what differs from the values that hold before any. */
export function encodeSettings(options: Http2Options): Uint8Array {
  const settings: [number, number][] = [
    [Setting.maxConcurrentStreams, options.maxConcurrentStreams],
    [Setting.maxHeaderListSize, options.maxHeaderListBytes],
  ];
  if (options.headerTableBytes !== INITIAL_TABLE_BYTES) {
    settings.push([Setting.headerTableSize, options.headerTableBytes]);
  }
  if (options.streamWindowBytes !== INITIAL_WINDOW_BYTES) {
    settings.push([Setting.initialWindowSize, options.streamWindowBytes]);
  }
  const payload = new Uint8Array(settings.length * SETTING_BYTES);
  settings.forEach(([id, value], index) => {
    payload[index * SETTING_BYTES + 1] = id;
    putUint32(payload, index * SETTING_BYTES + 2, value);
  });
  return payload;
}

export function settingIdAt(bytes: Uint8Array, at: number): number {
  return (octetAt(bytes, at) << 8) | octetAt(bytes, at + 1);
}

export function settingValueAt(bytes: Uint8Array, at: number): number {
  return uint32At(bytes, at + 2);
}

/** The connection error that this value of the peer's is, or NO_ERROR (RFC 9113 §6.5.2). */
export function settingError(id: number, value: number): number {
  switch (id) {
    case Setting.enablePush:
    case Setting.enableConnectProtocol:
      return value <= 1 ? ErrorCode.noError : ErrorCode.protocolError;
    case Setting.initialWindowSize:
      return value <= MAX_WINDOW_BYTES ? ErrorCode.noError : ErrorCode.flowControlError;
    case Setting.maxFrameSize:
      return value >= MAX_FRAME_BYTES && value <= LARGEST_FRAME_SIZE
        ? ErrorCode.noError
        : ErrorCode.protocolError;
    default:
      return ErrorCode.noError;
  }
}
