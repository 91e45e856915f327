import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { readCommand, writeCommand } from './resp';

export interface FakeSentinel {
  readonly port: number;
  /** What it names from now on. */
  master: { readonly port: number; readonly epoch: number };
  /** How often it was asked for the master. */
  readonly questions: number;
  /** Channels that somebody listens to. */
  readonly channels: ReadonlySet<string>;
  /** Refuses to be listened to. */
  isSilent: boolean;
  /** Sends a message to all that listen to its channel. */
  publish(channel: string, message: string): void;
  close(): Promise<void>;
}

const listOf = (...words: readonly (string | number)[]): string => writeCommand(words.map(String));

/** A sentinel that names what a test wants, and announces it when the test says so. */
export async function startFakeSentinel(masterPort: number): Promise<FakeSentinel> {
  const sockets = new Set<Socket>();
  const listeners = new Set<Socket>();
  const channels = new Set<string>();
  const self: { -readonly [K in keyof FakeSentinel]: FakeSentinel[K] } = {
    port: 0,
    master: { port: masterPort, epoch: 1 },
    questions: 0,
    channels,
    isSilent: false,
    publish(channel, message) {
      for (const socket of listeners) socket.write(listOf('message', channel, message));
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  const answer = (socket: Socket, [name = '', what = '', ...rest]: readonly string[]): string => {
    const { port, epoch } = self.master;
    switch (name.toLowerCase()) {
      case 'subscribe':
        if (self.isSilent)
          return "-NOPERM this user has no permissions to run the 'subscribe' command\r\n";
        listeners.add(socket);
        return [what, ...rest]
          .map((channel, at) => {
            channels.add(channel);
            return `*3\r\n$9\r\nsubscribe\r\n$${String(channel.length)}\r\n${channel}\r\n:${String(at + 1)}\r\n`;
          })
          .join('');
      case 'sentinel':
        if (what === 'master') return listOf('config-epoch', epoch);
        self.questions += 1;
        return listOf('127.0.0.1', port);
      default:
        return '+PONG\r\n';
    }
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      listeners.delete(socket);
    });
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      for (let read = readCommand(rest); read !== undefined; read = readCommand(rest)) {
        rest = rest.slice(read.end);
        socket.write(answer(socket, read.words), 'latin1');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  self.port = (server.address() as AddressInfo).port;
  return self;
}
