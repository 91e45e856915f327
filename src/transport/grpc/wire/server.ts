import { createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { cannotListen, type ListenAddress } from '../../listener';
import { removeStaleSocket } from '../../unix-socket';
import type { ServerTls } from '../options';
import { MAX_CONNECTIONS, PREFACE_MS } from './limits';

/** A caller may close its side and still wait for answers. */
const SOCKET_OPTIONS = { noDelay: true, allowHalfOpen: true } as const;

export interface SocketServer {
  /** Settles with the address that is bound; rejects with a message that names it. */
  listen(address: ListenAddress): Promise<ListenAddress>;
  /** Accepts no more. */
  stop(): void;
  /** Cuts the sockets that are left (in the middle of a handshake) and settles when the port is free. */
  end(): Promise<void>;
}

/** A server that gives plain or decrypted sockets to `accept`. */
export function createSocketServer(
  tls: ServerTls | undefined,
  accept: (socket: Socket) => void,
): SocketServer {
  const server = tls === undefined ? createPlainServer(SOCKET_OPTIONS) : secureServer(tls);
  const sockets = new Set<Socket>();
  let stopped: Promise<void> | undefined;
  const stop = () =>
    (stopped ??= new Promise((resolve) => {
      // Told of an error when it never listened: it has stopped all the same.
      server.close(() => {
        resolve();
      });
    }));
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on(tls === undefined ? 'connection' : 'secureConnection', accept);
  return {
    listen: (address) => listenOn(server, address),
    stop() {
      void stop();
    },
    end() {
      for (const socket of sockets) socket.destroy();
      return stop();
    },
  };
}

function secureServer({ certificate, key, clientCa }: ServerTls): Server {
  return createTlsServer({
    ...SOCKET_OPTIONS,
    cert: certificate,
    key,
    minVersion: 'TLSv1.2',
    // A caller without ALPN is taken at its word; one that offers only others is refused.
    ALPNProtocols: ['h2'],
    handshakeTimeout: PREFACE_MS,
    ...(clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  });
}

async function listenOn(server: Server, address: ListenAddress): Promise<ListenAddress> {
  if ('path' in address) await removeStaleSocket(address.path);
  await new Promise<void>((resolve, reject) => {
    const onError = (error: Error) => {
      reject(cannotListen(address, error));
    };
    server.once('error', onError);
    server.listen(address, () => {
      server.off('error', onError);
      // An accept that failed (no more file descriptors) is the caller's loss; the server goes on.
      server.on('error', () => undefined);
      resolve();
    });
  });
  const bound = server.address();
  if ('path' in address || bound === null || typeof bound === 'string') return address;
  return { host: address.host, port: bound.port };
}
