/** Longest relative time to live; a larger number is an absolute Unix second (protocol.txt, "Expiration times"). */
const MOST_RELATIVE_SECONDS = 60 * 60 * 24 * 30;

/** Keys of one `get`: servers drop connections that send lines of many KiB. */
export const MOST_KEYS_PER_GET = 100;

export const VERSION = 'version\r\n';

export function getCommand(keys: readonly string[]): string {
  return `get ${keys.join(' ')}\r\n`;
}

/** Adds to a counter that exists; `decr` stops at 0 by itself. */
export function changeCommand(key: string, hits: number | bigint): string {
  return hits < 0 ? `decr ${key} ${String(-hits)}\r\n` : `incr ${key} ${String(hits)}\r\n`;
}

/** Creates a counter, unless there is one. */
export function addCommand(key: string, hits: number | bigint, expiry: number): string {
  const value = hits < 0 ? '0' : String(hits);
  return `add ${key} 0 ${String(expiry)} ${String(value.length)}\r\n${value}\r\n`;
}

/** A time to live in the words of the protocol. */
export function toExpiry(ttlSeconds: number, nowSeconds: number): number {
  return ttlSeconds > MOST_RELATIVE_SECONDS ? Math.floor(nowSeconds) + ttlSeconds : ttlSeconds;
}
