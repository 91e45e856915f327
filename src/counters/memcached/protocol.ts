import { crc32 } from 'node:zlib';
import { type StoreError } from '../../core/errors';
import { toKeyError, type Count } from '../count';

/** memcached's protocol.txt, "Keys". */
const MAX_KEY_BYTES = 250;

/** Whitespace and control characters in the protocol's sense: it knows ASCII only. */
const FORBIDDEN = /[\u0000-\u0020\u007f]/;

/** Why memcached cannot store a key, with its length or the invalid character; undefined when it can. */
export function faultOfKey(key: string): string | undefined {
  if (key === '') return 'memcached does not accept an empty key';
  const at = key.search(FORBIDDEN);
  if (at !== -1) {
    const code = key.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
    return `memcached does not accept a key with whitespace or control characters: this one has U+${code} at ${String(at)}`;
  }
  const bytes = Buffer.byteLength(key);
  if (bytes <= MAX_KEY_BYTES) return undefined;
  return `memcached accepts keys of at most ${String(MAX_KEY_BYTES)} bytes: this one has ${String(bytes)}; hash_value shortens a long value to 37`;
}

/**
 * The node of a key: CRC-32 (IEEE) modulo the number of nodes, as existing clients place it (behaviour.md §3.5), and its connection
 * to that node.
 */
export function placeOf(key: string, nodes: number, connections: number) {
  const hash = crc32(key);
  return { node: hash % nodes, connection: Math.floor(hash / nodes) % connections };
}

/** Longest relative time to live; a larger number is an absolute Unix second (protocol.txt, "Expiration times"). */
const MAX_RELATIVE_SECONDS = 60 * 60 * 24 * 30;

/** Keys per `get`: servers close connections that send lines of many KiB. */
export const MAX_KEYS_PER_GET = 100;

export const VERSION = 'version\r\n';

export function getCommand(keys: readonly string[]): string {
  return `get ${keys.join(' ')}\r\n`;
}

/** The largest number in a command; the sum of pending refunds may be larger. */
const MAX_DELTA = 2n ** 64n - 1n;

/** Adds to an existing counter; `decr` stops at 0 by itself. */
export function changeCommand(key: string, hits: Count): string {
  if (hits >= 0) return `incr ${key} ${String(hits)}\r\n`;
  return `decr ${key} ${String(-hits < MAX_DELTA ? -hits : MAX_DELTA)}\r\n`;
}

export function deleteCommand(key: string): string {
  return `delete ${key}\r\n`;
}

/** Sets a counter to a number of hits. */
export function setCommand(key: string, used: number, expiry: number): string {
  const value = String(used);
  return `set ${key} 0 ${String(expiry)} ${String(value.length)}\r\n${value}\r\n`;
}

/** Creates a counter, unless it exists. */
export function addCommand(key: string, hits: Count, expiry: number): string {
  const value = hits < 0 ? '0' : String(hits);
  return `add ${key} 0 ${String(expiry)} ${String(value.length)}\r\n${value}\r\n`;
}

/**
 * memcached counts lifetimes in whole seconds of its own clock: n seconds last n - 1 to n, so that counters would expire before
 * their window ends.
 */
const LAST_SECOND = 1;

/** A time to live as the protocol expects it: the counter lasts at least this long. */
export function toExpiry(ttlSeconds: number, nowSeconds: number): number {
  const life = ttlSeconds + LAST_SECOND;
  return life > MAX_RELATIVE_SECONDS ? Math.floor(nowSeconds) + life : life;
}

const SAFE_DIGITS = 15;

/** Reads a counter's text; `decr` leaves blanks after it. An error when it is not a number. */
export function parseCount(text: string): Count | StoreError {
  const digits = text.trimEnd();
  if (/^\d{1,20}$/.test(digits))
    return digits.length <= SAFE_DIGITS ? Number(digits) : BigInt(digits);
  return toKeyError('memcached holds a value under the key of a counter that is not a number');
}
