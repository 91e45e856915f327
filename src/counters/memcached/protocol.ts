import { crc32 } from 'node:zlib';
import type { StoreError } from '../../core/errors';
import { toKeyError, type Count } from '../count';

/** Called for what the server sends, line by line; the data of a value come with its line. */
interface ReplyHandler {
  /** An item of a `get`. */
  onValue(key: string, data: string): void;
  /** Any other line: `END`, `STORED`, a number, an error. */
  onLine(line: string): void;
}

const LINE_FEED = 10;

/** Longer than any line of a reply to us. */
const MAX_LINE_BYTES = 2_048;

/** A counter has at most 20 digits; a value that others wrote under its key is at most 1 MiB unless the server is configured otherwise. */
const MAX_VALUE_BYTES = 8 * 1024 * 1024;

/** A key ends at an ASCII space; `\s` of JavaScript includes spaces that a key may contain. */
const VALUE = /^VALUE ([^ ]+) \d+ (\d+)(?: \d+)?$/;

/** Parses bytes as they come; throws on anything that is not memcached's protocol. */
export function createReplyReader(handler: ReplyHandler) {
  /** Received parts of an incomplete item. */
  let pieces: Buffer[] = [];
  let bytesHeld = 0;
  /** The item's size where it is known: joining the parts earlier would take quadratic time. */
  let bytesWanted = 0;

  /** Returns where the next item begins; the same position when it is not complete yet. */
  const readOne = (bytes: Buffer, start: number): number => {
    bytesWanted = 0;
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1) {
      if (bytes.length - start > MAX_LINE_BYTES) throw new Error('a line of its reply is too long');
      return start;
    }
    const line = bytes.toString('utf8', start, bytes[end - 1] === 13 ? end - 1 : end);
    const [, key, size = ''] = VALUE.exec(line) ?? [];
    if (key === undefined) {
      handler.onLine(line);
      return end + 1;
    }
    const dataEnd = end + 1 + Number(size);
    if (Number(size) > MAX_VALUE_BYTES) throw new Error('a value of its reply is too long');
    if (bytes.length < dataEnd + 2) {
      bytesWanted = dataEnd + 2 - start;
      return start;
    }
    handler.onValue(key, bytes.toString('latin1', end + 1, dataEnd));
    return dataEnd + 2;
  };

  return {
    read(chunk: Buffer) {
      pieces.push(chunk);
      bytesHeld += chunk.length;
      if (bytesHeld < bytesWanted) return;
      const bytes = pieces.length === 1 ? chunk : Buffer.concat(pieces, bytesHeld);
      let at = 0;
      for (let next = readOne(bytes, at); next > at; next = readOne(bytes, at)) at = next;
      pieces = at === bytes.length ? [] : [bytes.subarray(at)];
      bytesHeld = bytes.length - at;
    },
  };
}

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
