import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { BUDGETS_SCRIPT, OPERATIONS_SCRIPT } from '../../src/counters/redis/lua/scripts';
import { TIME_SCRIPT } from '../../src/counters/redis/server-clock';
import { readCommand, writeCommand } from './resp';

export interface RedisClock {
  readonly port: number;
  close(): Promise<void>;
}

/** Scripts whose first argument is the time of day. */
const TIMED: readonly string[] = [OPERATIONS_SCRIPT, BUDGETS_SCRIPT].flatMap(({ sha, source }) => [
  sha,
  source,
]);

/** A command as the server would take it if that were the time of day: in its first argument, in place of TIME, or both. */
export function withClock(words: readonly string[], micros: number): readonly string[] {
  const [name = '', script = '', keys = ''] = words;
  const time = [Math.floor(micros / 1_000_000), micros % 1_000_000].map(String);
  if (/^time$/i.test(name)) return ['EVAL', 'return {ARGV[1], ARGV[2]}', '0', ...time];
  if (!/^eval(sha)?$/i.test(name)) return words;
  if (keys === '0' && script !== TIME_SCRIPT) return words;
  if (TIMED.includes(script)) return words.toSpliced(3 + Number(keys), 1, String(micros));
  // Scripts of operators have no argument for it.
  const asked = `{'${time.join("', '")}'}`;
  return words.with(1, script.replaceAll("redis.call('TIME')", asked));
}

/**
 * A proxy in front of a Redis that gives it another clock: it puts the time of day into TIME and into the calls of the scripts
 * of algorithms and budgets, where it is empty and the script would ask the server, and into those of operators. Keys still expire
 * by the server's own clock.
 */
export async function startRedisClock(
  targetPort: number,
  readSeconds: () => number,
): Promise<RedisClock> {
  const sockets = new Set<Socket>();
  const nowMicros = () => Math.round(readSeconds() * 1_000) * 1_000;
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
        far.write(writeCommand(withClock(read.words, nowMicros())), 'latin1');
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
