import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** What a StatsD server made of the lines that it got. */
export interface StatsdRecord {
  readonly lines: string[];
  /** Sums of counters, and how often each timer was sent, by name. */
  totals(): Record<string, number>;
}

function createRecord(): StatsdRecord {
  const lines: string[] = [];
  return {
    lines,
    totals() {
      const totals: Record<string, number> = {};
      for (const line of lines) {
        const {
          name = '',
          value,
          type,
          rate = '1',
        } = /^(?<name>[^:|]*):(?<value>[0-9.]+)\|(?<type>c|ms|g)(\|@(?<rate>[0-9.e-]+))?$/.exec(
          line,
        )?.groups ?? {};
        if (type === undefined) throw new Error(`not a line of StatsD: ${line}`);
        const counts = type === 'ms' ? 1 / Number(rate) : Number(value);
        if (type !== 'g') totals[name] = (totals[name] ?? 0) + counts;
      }
      return totals;
    },
  };
}

/** A StatsD server over TCP. `paused`: it takes connections and reads nothing until `resume`. */
export async function startStatsdTcp({ port = 0, paused = false } = {}) {
  const record = createRecord();
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ pauseOnConnect: paused }, (socket) => {
    let rest = '';
    connections += 1;
    sockets.add(socket);
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      record.lines.push(...parts);
    });
    if (paused) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    ...record,
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    resume() {
      for (const socket of sockets) socket.resume();
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A StatsD server over UDP. */
export async function startStatsdUdp({ port = 0 } = {}) {
  const record = createRecord();
  const sizes: number[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message) => {
    sizes.push(message.length);
    record.lines.push(...message.toString().split('\n'));
  });
  await new Promise<void>((resolve) => {
    socket.bind(port, '127.0.0.1', resolve);
  });
  return {
    ...record,
    port: socket.address().port,
    sizes,
    stop: () =>
      new Promise<void>((resolve) => {
        socket.close(resolve);
      }),
  };
}
