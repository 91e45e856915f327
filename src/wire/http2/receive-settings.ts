import { SETTINGS_PER_TOKEN } from './budgets';
import { ignoreFrame } from './closed-frames';
import { Phase, type ConnectionState } from './connection-state';
import { INITIAL_WINDOW_BYTES } from './connection-state';
import { ErrorCode } from './error-codes';
import { allow, failConnection } from './failures';
import { flushAfterSettings, setPeerInitialWindow } from './flow-control';
import { CONNECTION_STREAM, Flag } from './frames';
import { INITIAL_TABLE_BYTES, limitTable } from './hpack/decoder';
import { writeSettingsAck } from './replies';
import { Setting, SETTING_BYTES, settingError, settingIdAt, settingValueAt } from './settings';
import { listStreams } from './stream-table';

/** SETTINGS (RFC 9113 §6.5). */
export function receiveSettings<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  flags: number,
  streamId: number,
): void {
  const ack = (flags & Flag.ack) !== 0;
  if (streamId !== CONNECTION_STREAM) {
    failConnection(connection, ErrorCode.protocolError, 'settings came on a stream');
  } else if (ack ? start !== end : (end - start) % SETTING_BYTES !== 0) {
    failConnection(connection, ErrorCode.frameSizeError, 'a settings frame has a wrong length');
  } else if (ack) {
    receiveSettingsAck(connection);
  } else if (allow(connection, connection.allowances.settings, tokensFor(end - start))) {
    applySettings(connection, bytes, start, end);
  }
}

function tokensFor(bytes: number): number {
  return 1 + Math.floor(bytes / (SETTING_BYTES * SETTINGS_PER_TOKEN));
}

/** Of values with one id the last one holds, as in nghttp2: the windows of the streams move once per frame. */
function applySettings<S>(
  connection: ConnectionState<S>,
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

function shrinkTable<S>(connection: ConnectionState<S>, bytes: number): void {
  if (bytes >= INITIAL_TABLE_BYTES) return;
  connection.owesSizeUpdate ||= !connection.tableAbandoned;
  connection.tableAbandoned = true;
}

/** From here on the peer knows our limits (RFC 9113 §6.5.3). */
function receiveSettingsAck<S>(connection: ConnectionState<S>): void {
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
