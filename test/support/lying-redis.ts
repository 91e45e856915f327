import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { readCommand } from './resp';

/** In place of an answer: the connection ends. */
export const CLOSES = 'closes';

export interface LyingRedis {
  readonly port: number;
  /** What it answers to a script with arguments, or to INCRBY, GET and HMGET, in RESP. */
  reply: string;
  /** What it answers to a command instead, in RESP, or `CLOSES`; undefined: as ever. */
  lie: (words: readonly string[]) => string | undefined;
  /** Every command that it was sent. */
  readonly received: readonly (readonly string[])[];
  /** What it answers to a script without keys, by which it is asked whether it takes scripts. */
  greeting: string;
  close(): Promise<void>;
}

/** A server that greets as Redis does and answers whatever a test wants. */
export async function startLyingRedis({
  takesScripts = true,
  host = '127.0.0.1',
} = {}): Promise<LyingRedis> {
  const sockets = new Set<Socket>();
  const received: (readonly string[])[] = [];
  const self: { -readonly [K in keyof LyingRedis]: LyingRedis[K] } = {
    port: 0,
    reply: '*0\r\n',
    greeting: takesScripts ? '*0\r\n' : '-ERR unknown command\r\n',
    lie: () => undefined,
    received,
    close: () => Promise.resolve(),
  };
  const answer = ([name = '', , keys = '']: readonly string[]): string => {
    switch (name.toLowerCase()) {
      case 'evalsha':
      case 'eval':
        return keys === '0' ? self.greeting : self.reply;
      case 'incrby':
      case 'get':
      case 'hmget':
        return self.reply;
      case 'expire':
        return ':1\r\n';
      default:
        return '+OK\r\n';
    }
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      for (let read = readCommand(rest); read !== undefined; read = readCommand(rest)) {
        rest = rest.slice(read.end);
        received.push(read.words);
        const reply = self.lie(read.words) ?? answer(read.words);
        if (reply === CLOSES) socket.destroy();
        else socket.write(reply, 'latin1');
      }
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  self.port = (server.address() as AddressInfo).port;
  self.close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return self;
}
