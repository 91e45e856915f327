import { spawn } from 'node:child_process';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { readFileSync } from 'node:fs';
import { pauseProcess } from '../pause-process';
import { eventually } from './eventually';
import { freePort } from '../free-port';

export interface MemcachedServerOptions {
  /** A port that is known to be free; any when undefined. */
  readonly port?: number;
  readonly arguments?: readonly string[];
  /** The server then speaks TLS only. */
  readonly tls?: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
}

export interface MemcachedEntry {
  readonly value: string;
  /** -1: for ever. */
  readonly ttlSeconds: number;
}

/** A real server that a test has started. */
export interface MemcachedServer {
  readonly port: number;
  readonly address: { readonly host: string; readonly port: number };
  /** What it holds under a key. */
  read(key: string): Promise<MemcachedEntry | undefined>;
  /** What it holds of these keys; it cannot list all that it has. */
  entries(keys: readonly string[]): Promise<ReadonlyMap<string, MemcachedEntry>>;
  /** One command whose reply ends with a line that matches; answers its lines. */
  ask(command: string, end?: RegExp): Promise<readonly string[]>;
  /** Hangs it: it accepts and reads nothing. */
  pause(): void;
  resume(): void;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const ANY_END =
  /^(?:END|EN|OK|HD.*|STORED|NOT_STORED|DELETED|NOT_FOUND|VERSION .*|\d+|.*ERROR.*|VA .*\r\n.*)\r\n$/m;

/** Starts `memcached` on loopback and waits until it answers. */
export async function startMemcachedServer(
  options: MemcachedServerOptions = {},
): Promise<MemcachedServer> {
  const port = options.port ?? (await freePort());
  const { tls } = options;
  const secured =
    tls === undefined ? [] : ['-Z', '-o', `ssl_chain_cert=${tls.certFile},ssl_key=${tls.keyFile}`];
  // Root may not run it; another user reads no key of ours.
  const user = process.getuid?.() === 0 ? ['-u', 'root'] : [];
  const place = ['-l', '127.0.0.1', '-p', String(port), '-U', '0', '-t', '1', '-m', '64'];
  const child = spawn('memcached', [...place, ...user, ...secured, ...(options.arguments ?? [])], {
    stdio: 'ignore',
  });
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    const end = (): void => {
      isGone = true;
      resolve();
    };
    child.once('exit', end).once('error', end);
  });

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

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill('SIGCONT');
    child.kill(signal);
    await gone;
  };
  const read = async (key: string): Promise<MemcachedEntry | undefined> => {
    const [head = '', value = ''] = await ask(`mg ${key} t v`);
    const ttl = /^VA \d+ t(-?\d+)/.exec(head);
    return ttl === null ? undefined : { value: value.trimEnd(), ttlSeconds: Number(ttl[1]) };
  };
  await eventually(async () => {
    if (isGone) throw new Error('memcached is not installed or ended: apt-get install memcached');
    await ask('version');
  });
  return {
    port,
    address: { host: '127.0.0.1', port },
    read,
    ask,
    async entries(keys) {
      const rows = await Promise.all(keys.map(async (key) => [key, await read(key)] as const));
      return new Map(rows.flatMap(([key, entry]) => (entry === undefined ? [] : [[key, entry]])));
    },
    pause: () => {
      pauseProcess(child.pid);
    },
    resume: () => child.kill('SIGCONT'),
    kill: () => stop('SIGKILL'),
    // It takes a second to end by itself, and has nothing to keep.
    stop: () => stop('SIGKILL'),
  };
}
