import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { BUDGET_SCRIPTS } from '../../src/counters/redis/budgets/budget-script';
import { KIND_SCRIPTS } from '../../src/counters/redis/lua-kinds';
import { readCommand, writeCommand } from './resp';

export interface RedisClock {
  readonly port: number;
  close(): Promise<void>;
}

/** Scripts whose first argument is the time of day. */
const TIMED: readonly string[] = [KIND_SCRIPTS, BUDGET_SCRIPTS].flatMap(
  ({ declaring: { sha, source } }) => [sha, source],
);

/**
 * A proxy in front of a Redis that gives it another clock: it puts the time of day into TIME and into the calls of the scripts
 * of algorithms and budgets, where it is empty and the script would ask the server. Keys still expire by the server's own clock.
 */
export async function startRedisClock(
  targetPort: number,
  readSeconds: () => number,
): Promise<RedisClock> {
  const sockets = new Set<Socket>();
  const withTime = (words: readonly string[]): readonly string[] => {
    const [name = '', script = '', keys = ''] = words;
    const micros = Math.round(readSeconds() * 1_000) * 1_000;
    if (/^time$/i.test(name)) {
      const time = [Math.floor(micros / 1_000_000), micros % 1_000_000].map(String);
      return ['EVAL', 'return {ARGV[1], ARGV[2]}', '0', ...time];
    }
    const isOurs = /^eval(sha)?$/i.test(name) && TIMED.includes(script) && keys !== '0';
    if (!isOurs) return words;
    return words.toSpliced(3 + Number(keys), 1, String(micros));
  };
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    const drop = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', drop).on('close', drop);
    }
    let rest = '';
    near.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      for (let read = readCommand(rest); read !== undefined; read = readCommand(rest)) {
        rest = rest.slice(read.end);
        far.write(writeCommand(withTime(read.words)), 'latin1');
      }
    });
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
