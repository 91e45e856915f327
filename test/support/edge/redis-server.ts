import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { pauseProcess } from '../pause-process';
import { eventually } from './eventually';
import { freePort } from '../free-port';

export interface RedisServerOptions {
  /** Listens on a unix socket instead of TCP. */
  readonly unixSocket?: boolean;
  /** A port that is known to be free; any when undefined. */
  readonly port?: number;
  /** Where it keeps its data, which outlives it; a directory of its own when undefined. */
  readonly directory?: string;
  /** Lines of redis.conf: `['requirepass', 'secret']`. */
  readonly settings?: readonly (readonly string[])[];
  /** Certificates that `createCertificates` made; the TCP port then speaks TLS only. */
  readonly tls?: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
}

/** A real server that a test has started. */
export interface RedisServer {
  readonly port: number;
  readonly socketPath: string | undefined;
  readonly pid: number;
  /** What `createRedisCounters` takes. */
  readonly address:
    | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
    | { readonly kind: 'unix'; readonly path: string };
  /** A client for looking into it; closed by `stop`. */
  readonly client: Redis;
  /** Hangs it: it accepts and reads nothing. */
  pause(): void;
  resume(): void;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** The server that tests start: `npm run test:valkey` puts another one. */
export const REDIS_SERVER = process.env['WEIR_REDIS_SERVER'] ?? 'redis-server';

const LOOKING_IN = {
  lazyConnect: true,
  enableReadyCheck: false,
  protocol: 2,
  retryStrategy: () => 20,
} as const;

/** Settings of one node of a cluster. Its second port, its first and 10,000 by default, may be one that a connection has. */
export async function clusterNodeSettings() {
  return [
    ['cluster-enabled', 'yes'],
    ['cluster-port', String(await freePort())],
  ] as const;
}

/** Starts `redis-server` on loopback and waits until it answers. */
export async function startRedisServer(
  options: RedisServerOptions = {},
  clientOptions: Pick<RedisOptions, 'username' | 'password' | 'tls'> = {},
): Promise<RedisServer> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'weir-redis-')));
  const port = options.port ?? (await freePort());
  const socketPath = options.unixSocket === true ? join(directory, 'redis.sock') : undefined;
  const child = spawn(REDIS_SERVER, toArguments(options, { port, socketPath, directory }), {
    stdio: 'ignore',
  });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.once('error', () => {
      resolve();
    });
  });
  const place = socketPath === undefined ? { host: '127.0.0.1', port } : { path: socketPath };
  const client = new Redis({ ...place, ...LOOKING_IN, ...clientOptions });
  client.on('error', () => undefined);
  await untilItAnswers(client, child);

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (client.status !== 'end') client.disconnect();
    child.kill('SIGCONT');
    child.kill(signal);
    await gone;
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
  };
  return {
    port,
    socketPath,
    pid: child.pid as number,
    address:
      socketPath === undefined
        ? { kind: 'tcp', host: '127.0.0.1', port }
        : { kind: 'unix', path: socketPath },
    client,
    pause: () => {
      pauseProcess(child.pid);
    },
    resume: () => child.kill('SIGCONT'),
    kill: () => stop('SIGKILL'),
    // It takes a tenth of a second to end by itself, and has nothing to keep.
    stop: () => stop('SIGKILL'),
  };
}

async function untilItAnswers(client: Redis, child: ChildProcess): Promise<void> {
  await eventually(async () => {
    if (child.pid === undefined)
      throw new Error(`${REDIS_SERVER} is not installed: apt-get install redis-server`);
    // Another server on its port would answer in its place.
    if (child.exitCode !== null) throw new Error(`${REDIS_SERVER} ended at once`);
    if (client.status !== 'ready') await client.connect().catch(() => undefined);
    const pong = await client.ping().catch((error: unknown) => String(error));
    if (pong !== 'PONG' && !/NOAUTH|NOPERM|OOM/.test(pong)) throw new Error(pong);
  });
}

function toArguments(
  { settings = [], tls }: RedisServerOptions,
  place: { port: number; socketPath: string | undefined; directory: string },
): string[] {
  const { port, socketPath, directory } = place;
  const isTcp = socketPath === undefined;
  const lines: (readonly string[])[] = [
    ['save', ''],
    ['appendonly', 'no'],
    ['dir', directory],
    ['bind', '127.0.0.1'],
    ['port', isTcp && tls === undefined ? String(port) : '0'],
  ];
  if (socketPath !== undefined) lines.push(['unixsocket', socketPath]);
  if (tls !== undefined) {
    lines.push(['tls-port', String(port)], ['tls-ca-cert-file', tls.caFile]);
    lines.push(['tls-cert-file', tls.certFile], ['tls-key-file', tls.keyFile]);
  }
  return [...lines, ...settings].flatMap(([name = '', ...values]) => [`--${name}`, ...values]);
}
