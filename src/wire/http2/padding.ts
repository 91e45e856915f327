import type { ConnectionState } from './connection-state';
import { ErrorCode } from './error-codes';
import { failConnection } from './failures';
import { Flag } from './frames';
import { octetAt } from './octets';

/** What `endOfContent` returns after it has ended the connection. */
export const BAD_PADDING = -1;

/** Where the content of a frame begins: behind the Pad Length field, if there is one (RFC 9113 §6.1). */
export function startOfContent(start: number, flags: number): number {
  return (flags & Flag.padded) === 0 ? start : start + 1;
}

/** Where the padding begins, or BAD_PADDING. */
export function endOfContent<S>(
  connection: ConnectionState<S>,
  bytes: Uint8Array,
  start: number,
  end: number,
  flags: number,
): number {
  if ((flags & Flag.padded) === 0) return end;
  if (start === end) {
    failConnection(connection, ErrorCode.frameSizeError, 'a padded frame has no pad length');
    return BAD_PADDING;
  }
  const contentEnd = end - octetAt(bytes, start);
  if (contentEnd > start) return contentEnd;
  failConnection(connection, ErrorCode.protocolError, 'padding is longer than its frame');
  return BAD_PADDING;
}
