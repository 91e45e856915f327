import { spawn } from 'node:child_process';
import { pauseProcess } from '../pause-process';
import { eventually } from './eventually';
import { freePort } from '../free-port';
import { createMemcachedClient, type MemcachedClient } from '../memcached-client';

export interface MemcachedServerOptions {
  /** A port that is known to be free; any when undefined. */
  readonly port?: number;
  readonly arguments?: readonly string[];
  /** The server then speaks TLS only. */
  readonly tls?: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
}

/** A real server that a test has started. */
export interface MemcachedServer extends MemcachedClient {
  readonly port: number;
  readonly address: { readonly host: string; readonly port: number };
  /** Hangs it: it accepts and reads nothing. */
  pause(): void;
  resume(): void;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

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

  const client = createMemcachedClient(port, tls);
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill('SIGCONT');
    child.kill(signal);
    await gone;
  };
  await eventually(async () => {
    if (isGone) throw new Error('memcached is not installed or ended: apt-get install memcached');
    await client.ask('version');
  });
  return {
    port,
    address: { host: '127.0.0.1', port },
    ...client,
    pause: () => {
      pauseProcess(child.pid);
    },
    resume: () => child.kill('SIGCONT'),
    kill: () => stop('SIGKILL'),
    // It takes a second to end by itself, and has nothing to keep.
    stop: () => stop('SIGKILL'),
  };
}
