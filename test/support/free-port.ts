import { createServer } from 'node:net';

/**
 * Below the ports that the system gives to connections and to listeners that name none (Linux: from 32768 on), so
 * that none of these takes a port between its being found and its being listened on.
 */
const FIRST_PORT = 16_000;
/** Each of jest's workers has its own. */
const PORTS_PER_WORKER = 2_000;
const MAX_WORKERS = 8;

const worker = Number(process.env['JEST_WORKER_ID'] ?? 0) % MAX_WORKERS;
let next = Math.floor(Math.random() * PORTS_PER_WORKER);

/** A TCP port on loopback that nobody listens on right now; another one each time. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_PER_WORKER; tries++) {
    const port = FIRST_PORT + worker * PORTS_PER_WORKER + next;
    next = (next + 1) % PORTS_PER_WORKER;
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

/** As many ports, no two of them the same. */
export function freePorts(count: number): Promise<readonly number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
