import cluster from 'node:cluster';
import { chmod, rm, stat } from 'node:fs/promises';
import { connect, createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { map, of, type Observable } from 'rxjs';
import { limitConnections } from '../../platform/limit-connections';
import { ListenError, type ListenAddress } from '../../platform/listen-address';
import type { ClientRefusal, GrpcTransportOptions } from './options';
import { createTlsServer } from './tls-server';

const MAX_CONNECTIONS = 10_000;

/** The folder of a Unix socket restricts which processes may connect to it. */
const SOCKET_MODE = 0o666;

export interface SocketServerDeps {
  /** Takes over a plain or decrypted socket. */
  readonly accept: (socket: Socket) => void;
  /** Called for callers that failed in the handshake. */
  readonly onClientRefused?: ((refusal: ClientRefusal) => void) | undefined;
}

export interface SocketServerOptions extends Pick<
  GrpcTransportOptions,
  'address' | 'unixSocketMode' | 'tls' | 'maxConnections'
> {
  /** A caller may close its side and still wait for answers. */
  readonly allowHalfOpen: boolean;
}

/** The listening socket of a gRPC port, for either engine. */
export function createSocketServer(
  { accept, onClientRefused = () => undefined }: SocketServerDeps,
  {
    address,
    unixSocketMode,
    tls,
    maxConnections = MAX_CONNECTIONS,
    allowHalfOpen,
  }: SocketServerOptions,
) {
  const { server, renew$ } = openServer();
  const sockets = new Set<Socket>();
  let stopped: Promise<void> | undefined;

  function openServer(): { readonly server: Server; readonly renew$: Observable<void> } {
    const options = { noDelay: true, allowHalfOpen };
    if (tls === undefined) {
      return { server: createPlainServer(options, accept), renew$: of() };
    }
    const { server: secure, renew } = createTlsServer({ accept, onClientRefused }, tls, options);
    return { server: secure, renew$: tls.renewals$?.pipe(map(renew)) ?? of() };
  }

  const stop = () =>
    (stopped ??= new Promise((resolve) => {
      // Also called with an error when it never listened: it has stopped all the same.
      server.close(() => {
        resolve();
      });
    }));
  limitConnections(server, maxConnections);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // Socket errors concern the caller; 'close' follows.
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    /** Applies renewed certificates; emits nothing useful. */
    run$: renew$,
    /** Settles with the bound address; rejects with a message that names it. */
    async listen(): Promise<ListenAddress> {
      const bound = await listenOn(server, address);
      if ('path' in bound) {
        await chmod(bound.path, unixSocketMode ?? SOCKET_MODE).catch(async (error: unknown) => {
          await stop();
          throw new ListenError(address, error as Error);
        });
      }
      return bound;
    },
    /** In a worker: leaves connections to other workers while it has this many. */
    acceptAtMost(connections: number) {
      server.maxConnections = connections;
    },
    /** Accepts no more. */
    stop() {
      void stop();
    },
    /** Destroys the remaining sockets (in the middle of a handshake) and settles when the port is free. */
    end() {
      for (const socket of sockets) socket.destroy();
      return stop();
    },
  };
}

async function listenOn(server: Server, address: ListenAddress): Promise<ListenAddress> {
  // The primary of a cluster listens for all of its workers, and has checked before.
  if ('path' in address && !cluster.isWorker) await removeStaleSocket(address);
  await new Promise<void>((resolve, reject) => {
    const onError = (error: Error) => {
      reject(new ListenError(address, error));
    };
    server.once('error', onError);
    server.listen(address, () => {
      server.off('error', onError);
      // A failed accept (no more file descriptors) is the caller's loss; the server continues.
      server.on('error', () => undefined);
      resolve();
    });
  });
  const bound = server.address();
  if ('path' in address || bound === null || typeof bound === 'string') return address;
  return { host: address.host, port: bound.port };
}

/**
 * Removes the socket file of a process that was killed, so that a restart can listen again. Rejects when a process answers there,
 * and when the file is not ours to remove.
 */
export async function removeStaleSocket(address: { readonly path: string }): Promise<void> {
  const { path } = address;
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new ListenError(address, new Error('path exists and is not a socket'));
  }
  if (await isAnswered(path)) {
    throw new ListenError(address, new Error('another process listens there'));
  }
  await rm(path, { force: true });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED');
    });
  });
}
