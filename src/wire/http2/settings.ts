import { byteAt, putUint32, uint32At } from '../bytes';
import type { Http2Options } from './api';
import { SETTINGS_PER_TOKEN } from './budgets';
import {
  INITIAL_WINDOW_BYTES,
  MAX_WINDOW_BYTES,
  Phase,
  type ConnectionState,
  type ReceiveFrame,
} from './connection-state';
import { chargeBudget, failConnection, ignoreFrame } from './errors';
import { flushAfterSettings, setPeerInitialWindow } from './flow-control';
import {
  CONNECTION_STREAM,
  ErrorCode,
  Flag,
  flagsAt,
  FRAME_HEADER_BYTES,
  MAX_FRAME_BYTES,
  streamIdAt,
} from './frames';
import { INITIAL_TABLE_BYTES, limitTable } from './hpack/decoder';
import { listStreams } from './stream-table';
import { writeSettingsAck } from './write-frames';

/** RFC 9113 §6.5.2 and RFC 8441 §3. */
const Setting = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
  enableConnectProtocol: 0x8,
} as const;

const SETTING_BYTES = 6;
const MAX_FRAME_SIZE_SETTING = 0xffffff;

/** The payload of our SETTINGS: the values that differ from the defaults. */
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

/** SETTINGS (RFC 9113 §6.5). */
export const receiveSettings: ReceiveFrame = (connection, bytes, at, end) => {
  const start = at + FRAME_HEADER_BYTES;
  const ack = (flagsAt(bytes, at) & Flag.ack) !== 0;
  if (streamIdAt(bytes, at) !== CONNECTION_STREAM) {
    failConnection(connection, ErrorCode.protocolError, 'settings came on a stream');
  } else if (ack ? start !== end : (end - start) % SETTING_BYTES !== 0) {
    failConnection(connection, ErrorCode.frameSizeError, 'a settings frame has a wrong length');
  } else if (ack) {
    receiveSettingsAck(connection);
  } else if (chargeBudget(connection, connection.buckets.settings, tokensFor(end - start))) {
    applySettings(connection, bytes, start, end);
  }
};

function tokensFor(bytes: number): number {
  return 1 + Math.floor(bytes / (SETTING_BYTES * SETTINGS_PER_TOKEN));
}

/** The last of several values with one id applies, as in nghttp2: the windows of the streams move once per frame. */
function applySettings(
  connection: ConnectionState,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  let initialWindow = connection.peerInitialWindow;
  for (let at = start; at < end; at += SETTING_BYTES) {
    const id = settingIdAt(bytes, at);
    const value = settingValueAt(bytes, at);
    const errorCode = settingError(id, value);
    if (errorCode !== ErrorCode.noError) {
      failConnection(connection, errorCode, `setting ${String(id)} has the value ${String(value)}`);
      return;
    }
    if (id === Setting.initialWindowSize) initialWindow = value;
    else if (id === Setting.headerTableSize) shrinkTable(connection, value);
  }
  setPeerInitialWindow(connection, initialWindow);
  if (connection.phase === Phase.closed) return;
  connection.phase = Phase.open;
  connection.prefaceReceived = true;
  writeSettingsAck(connection);
  flushAfterSettings(connection);
}

function shrinkTable(connection: ConnectionState, bytes: number): void {
  if (bytes >= INITIAL_TABLE_BYTES) return;
  connection.owesSizeUpdate ||= !connection.tableAbandoned;
  connection.tableAbandoned = true;
}

/** From now on the peer knows our limits (RFC 9113 §6.5.3). */
function receiveSettingsAck(connection: ConnectionState): void {
  if (connection.settingsAcked) {
    ignoreFrame(connection);
    return;
  }
  connection.settingsAcked = true;
  const { headerTableBytes, streamWindowBytes } = connection.options;
  limitTable(connection.decoder, headerTableBytes);
  const change = Math.min(0, streamWindowBytes - INITIAL_WINDOW_BYTES);
  for (const stream of change < 0 ? listStreams(connection.streams) : []) {
    stream.receiveWindow += change;
  }
}

function settingIdAt(bytes: Uint8Array, at: number): number {
  return (byteAt(bytes, at) << 8) | byteAt(bytes, at + 1);
}

function settingValueAt(bytes: Uint8Array, at: number): number {
  return uint32At(bytes, at + 2);
}

/** The connection error that this value causes, or NO_ERROR (RFC 9113 §6.5.2). */
function settingError(id: number, value: number): number {
  switch (id) {
    case Setting.enablePush:
    case Setting.enableConnectProtocol:
      return value <= 1 ? ErrorCode.noError : ErrorCode.protocolError;
    case Setting.initialWindowSize:
      return value <= MAX_WINDOW_BYTES ? ErrorCode.noError : ErrorCode.flowControlError;
    case Setting.maxFrameSize:
      return value >= MAX_FRAME_BYTES && value <= MAX_FRAME_SIZE_SETTING
        ? ErrorCode.noError
        : ErrorCode.protocolError;
    default:
      return ErrorCode.noError;
  }
}
