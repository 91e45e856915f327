import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to connections and to whoever asks for any (Linux from 32768 on): what was found free
 * stays so until it is listened on, and a client that tries again and again does not meet itself there.
 */
const FIRST = 10_000;
const LAST = 32_000;
/** `fetch` refuses it, as it does all ports of old protocols (Fetch standard, "bad port"). */
const REFUSED_BY_FETCH = 10_080;
/** Each worker of jest has ports of its own, one of so many; those of another run have others, as a rule. */
const SHARES = 64;

const share = (process.ppid * 31 + Number(process.env['JEST_WORKER_ID'] ?? 0)) % SHARES;
const rounds = Math.floor((LAST - FIRST) / SHARES);
/** What jest says of the suite under way; benchmarks run without it. */
interface UnderJest {
  readonly expect?: { getState(): { readonly testPath?: string } };
}

const { expect: ofJest } = globalThis as UnderJest;
/** Each suite of a process begins elsewhere: what the one before it has left does not come back to its ports. */
const suite = `${String(process.pid)} ${ofJest?.getState().testPath ?? ''}`;
let round = createHash('sha256').update(suite).digest().readUInt32BE() % rounds;

/** A TCP port on loopback that nobody listens on right now, another one each time. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < rounds; tries++) {
    round = (round + 1) % rounds;
    const port = FIRST + round * SHARES + share;
    if (port !== REFUSED_BY_FETCH && (await isFree(port))) return port;
  }
  throw new Error(`no port from ${String(FIRST)} to ${String(LAST)} is free`);
}

/** As many ports. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
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
