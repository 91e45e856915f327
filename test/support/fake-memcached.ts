import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export type MemcachedCommand = 'version' | 'get' | 'incr' | 'decr' | 'add' | 'set' | 'delete';

/** What a server may do instead of answering: a line of its own; `closes`: end the connection; `silent`: nothing. */
export type WrongAnswer = string;

export interface FakeMemcached {
  readonly port: number;
  /** What it holds. */
  readonly values: Map<string, string>;
  /** How it answers one of its commands; undefined: as memcached does. */
  wrong: { readonly command: MemcachedCommand; readonly answer: WrongAnswer } | undefined;
  /** Ends all connections. */
  drop(): void;
  close(): Promise<void>;
}

/** A server that counts as memcached does, except for one command that a test names. */
export async function startFakeMemcached(): Promise<FakeMemcached> {
  const values = new Map<string, string>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    let rest = '';
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      rest += chunk.toString();
      for (let read = readCommand(rest); read !== undefined; read = readCommand(rest)) {
        rest = rest.slice(read.end);
        const answer = answerTo(read.words, read.data);
        if (answer === 'closes') socket.destroy();
        else if (answer !== 'silent') socket.write(`${answer}\r\n`);
        // A server that hangs answers nothing of what comes after either.
        else socket.removeAllListeners('data').resume();
      }
    });
  });
  const answerTo = (words: readonly string[], data: string): string => {
    const [command = '', ...keys] = words;
    if (self.wrong?.command === command) return self.wrong.answer;
    return command === 'get'
      ? itemsOf(values, keys)
      : (CHANGES[command]?.(values, keys, data) ?? 'ERROR');
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const self: FakeMemcached = {
    port: (server.address() as AddressInfo).port,
    values,
    wrong: undefined,
    drop,
    async close() {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
  return self;
}

function itemsOf(values: ReadonlyMap<string, string>, keys: readonly string[]): string {
  const items = keys.flatMap((key) => {
    const value = values.get(key);
    return value === undefined ? [] : [`VALUE ${key} 0 ${String(value.length)}\r\n${value}\r\n`];
  });
  return `${items.join('')}END`;
}

type Values = Map<string, string>;
type Words = readonly string[];

const store = (values: Values, key: string, data: string): string => {
  values.set(key, data);
  return 'STORED';
};
const addUp = (values: Values, key: string, by: number): string => {
  const held = values.get(key);
  if (held === undefined) return 'NOT_FOUND';
  const sum = String(Math.max(Number(held) + by, 0));
  values.set(key, sum);
  return sum;
};
const CHANGES: Readonly<Record<string, (values: Values, words: Words, data: string) => string>> = {
  version: () => 'VERSION 1.6.0',
  delete: (values, [key = '']) => (values.delete(key) ? 'DELETED' : 'NOT_FOUND'),
  set: (values, [key = ''], data) => store(values, key, data),
  add: (values, [key = ''], data) => (values.has(key) ? 'NOT_STORED' : store(values, key, data)),
  incr: (values, [key = '', by]) => addUp(values, key, Number(by)),
  decr: (values, [key = '', by]) => addUp(values, key, -Number(by)),
};

/** The first command of a text, with the data line that `add` and `set` have; undefined: it is not complete. */
function readCommand(text: string) {
  const lineEnd = text.indexOf('\r\n');
  if (lineEnd === -1) return undefined;
  const words = text.slice(0, lineEnd).split(' ');
  if (words[0] !== 'add' && words[0] !== 'set') return { words, data: '', end: lineEnd + 2 };
  const dataEnd = text.indexOf('\r\n', lineEnd + 2);
  if (dataEnd === -1) return undefined;
  return { words, data: text.slice(lineEnd + 2, dataEnd), end: dataEnd + 2 };
}
