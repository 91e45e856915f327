import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { readFileSync } from 'node:fs';

export interface MemcachedEntry {
  readonly value: string;
  /** -1: for ever. */
  readonly ttlSeconds: number;
}

/** Looks into a memcached. */
export interface MemcachedClient {
  /** What it holds under a key. */
  read(key: string): Promise<MemcachedEntry | undefined>;
  /** What it holds of these keys; it cannot list all that it has. */
  entries(keys: readonly string[]): Promise<ReadonlyMap<string, MemcachedEntry>>;
  /** One command whose reply ends with a line that matches; answers its lines. */
  ask(command: string, end?: RegExp): Promise<readonly string[]>;
}

const ANY_END =
  /^(?:END|EN|OK|HD.*|STORED|NOT_STORED|DELETED|NOT_FOUND|VERSION .*|\d+|.*ERROR.*|VA .*\r\n.*)\r\n$/m;

/** Each command takes a connection of its own. */
export function createMemcachedClient(
  port: number,
  tls?: { readonly caFile: string },
): MemcachedClient {
  const open = (): Socket =>
    tls === undefined
      ? connectTcp({ host: '127.0.0.1', port })
      : connectTls({
          host: '127.0.0.1',
          port,
          ca: readFileSync(tls.caFile),
          checkServerIdentity: () => undefined,
        });
  const ask = (command: string, end = ANY_END): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      const socket = open();
      let text = '';
      socket.on('error', reject);
      socket.on('close', () => {
        reject(new Error(`memcached closed the connection: ${text}`));
      });
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (!end.test(text)) return;
        resolve(text.split('\r\n').slice(0, -1));
        socket.destroy();
      });
      socket.write(`${command}\r\n`);
    });
  const read = async (key: string): Promise<MemcachedEntry | undefined> => {
    const [head = '', value = ''] = await ask(`mg ${key} t v`);
    const ttl = /^VA \d+ t(-?\d+)/.exec(head);
    return ttl === null ? undefined : { value: value.trimEnd(), ttlSeconds: Number(ttl[1]) };
  };
  return {
    read,
    ask,
    async entries(keys) {
      const rows = await Promise.all(keys.map(async (key) => [key, await read(key)] as const));
      return new Map(rows.flatMap(([key, entry]) => (entry === undefined ? [] : [[key, entry]])));
    },
  };
}
