import { crc32 } from 'node:zlib';

/** Of memcached's protocol.txt, "Keys". */
const MOST_KEY_BYTES = 250;

/** Whitespace and control characters in the protocol's sense: it knows ASCII only. */
const FORBIDDEN = /[\u0000-\u0020\u007f]/;

/** Why memcached cannot hold a key, with its length or the character at fault; undefined when it can. */
export function faultOfKey(key: string): string | undefined {
  if (key === '') return 'memcached takes no empty key';
  const at = key.search(FORBIDDEN);
  if (at !== -1) {
    const code = key.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
    return `memcached takes no key with whitespace or control characters: this one has U+${code} at ${String(at)}`;
  }
  const bytes = Buffer.byteLength(key);
  if (bytes <= MOST_KEY_BYTES) return undefined;
  return `memcached takes keys of at most ${String(MOST_KEY_BYTES)} bytes: this one has ${String(bytes)}`;
}

/** Where a key lies. */
export interface Place {
  readonly node: number;
  /** Which of a node's connections takes it. */
  readonly connection: number;
}

/** CRC-32 (IEEE) of the key modulo the number of nodes, as the clients of today place it (behaviour.md §3.5). */
export function placeOf(key: string, nodes: number, connections: number): Place {
  const hash = crc32(key);
  return { node: hash % nodes, connection: Math.floor(hash / nodes) % connections };
}
