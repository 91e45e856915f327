import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createEnd } from './end';
import { cannotListen, type ListenAddress, type Listener } from './listener';

export interface HttpListenerOptions {
  /** Port 0: any free one. */
  readonly host: string;
  readonly port: number;
  /** Default: HTTP_TIMEOUTS. */
  readonly timeouts?: HttpTimeouts;
  /** Hears of connections that could not be accepted; the listener goes on. */
  readonly onAcceptError?: (error: Error) => void;
}

export interface HttpTimeouts {
  /** A caller that has not sent its headers by then is cut (slow header attacks). */
  readonly headersMs: number;
  /** The same for a whole request. */
  readonly requestMs: number;
  /** How long a connection may idle between requests. */
  readonly keepAliveMs: number;
  readonly checkEveryMs: number;
}

export const HTTP_TIMEOUTS: HttpTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  // Longer than the 60 s after which common load balancers close idle connections themselves.
  keepAliveMs: 65_000,
  checkEveryMs: 1_000,
};

/** HTTP/1.1 with time-outs, and a close that answers what is in flight. */
export function createHttpListener(
  handle: RequestListener,
  { host, port, timeouts = HTTP_TIMEOUTS, onAcceptError = ignore }: HttpListenerOptions,
): Listener {
  const answering = new Set<ServerResponse>();
  let closed: Promise<void> | undefined;
  const end = createEnd();
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
  });
  server.on('request', (request, response) => {
    answering.add(response);
    response.once('close', () => answering.delete(response));
    if (closed !== undefined) response.setHeader('Connection', 'close');
    handle(request, response);
  });
  server.on('clientError', refuse);

  const close = (withinMs: number): Promise<void> =>
    new Promise((resolve) => {
      for (const response of answering) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
      const cut = setTimeout(() => {
        server.closeAllConnections();
      }, withinMs);
      // Closes the idle connections too; its error only says that it did not listen.
      server.close(() => {
        clearTimeout(cut);
        end.reach();
        resolve();
      });
    });

  return {
    run$: end.reached$,
    listen: () =>
      new Promise<ListenAddress>((resolve, reject) => {
        const fail = (error: Error) => {
          reject(cannotListen({ host, port }, error));
        };
        server.once('error', fail);
        server.listen({ host, port }, () => {
          server.off('error', fail);
          // An accept that fails (out of file descriptors) costs that connection only.
          server.on('error', onAcceptError);
          const bound = server.address();
          resolve({ host, port: typeof bound === 'object' && bound !== null ? bound.port : port });
        });
      }),
    close: (withinMs) => (closed ??= close(withinMs)),
  };
}

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Bytes that are no HTTP/1.1 request, or that came too slowly. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const line = STATUS_LINES[error.code ?? ''] ?? '400 Bad Request';
  const body = `{"error":"${line.slice(4).toLowerCase()}: this is no HTTP/1.1 request in time and size"}`;
  socket.end(
    `HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${String(body.length)}\r\n\r\n${body}`,
  );
}

function ignore(): void {
  // Nobody wants to hear of it.
}
