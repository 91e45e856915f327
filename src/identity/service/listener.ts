import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorAnswer } from './answers';

export interface ListenerOptions {
  readonly host: string | undefined;
  /** 0: any free one. */
  readonly port: number;
}

export interface HttpListener {
  /** Settles with the port that is bound; rejects with a message that names the address. */
  listen(): Promise<number>;
  /** Takes nothing new, waits for what is in flight, cuts what is left after `withinMs`. */
  close(withinMs: number): Promise<void>;
}

const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
/** Longer than the 60 s after which common load balancers close idle connections themselves. */
const KEEP_ALIVE_MS = 65_000;
const CHECK_EVERY_MS = 1_000;
const MAX_HEADER_BYTES = 16 * 1_024;

/** HTTP/1.1 with time-outs, and a close that answers what is in flight. */
export function createListener(
  handle: RequestListener,
  { host, port }: ListenerOptions,
  createRequestId: () => string,
): HttpListener {
  const answering = new Set<ServerResponse>();
  let closed: Promise<void> | undefined;
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node's own answer to a request without Host is not in the envelope.
    requireHostHeader: false,
  });
  // Their size is the limit: a second Authorization must not hide behind two thousand others.
  server.maxHeadersCount = 0;
  const onRequest: RequestListener = (request, response) => {
    answering.add(response);
    response.once('close', () => answering.delete(response));
    if (closed !== undefined) response.setHeader('Connection', 'close');
    const isOld = request.httpVersionMajor === 1 && request.httpVersionMinor === 0;
    if (isOld || request.headers.host !== undefined) handle(request, response);
    else request.socket.end(rawAnswer('400 Bad Request', 'invalid_request', createRequestId()));
  };
  server.on('request', onRequest);
  // Node would answer an expectation it does not know with a bare 417; no body is ever waited for here.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else socket.end(rawAnswer(lineOf(error), 'invalid_request', createRequestId()));
  });
  server.on('connect', (_request, socket) => {
    socket.end(rawAnswer('405 Method Not Allowed', 'method_not_allowed', createRequestId()));
  });

  const close = (withinMs: number): Promise<void> =>
    new Promise((resolve) => {
      for (const response of answering) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
      const cut = setTimeout(() => {
        server.closeAllConnections();
      }, withinMs);
      server.close(() => {
        clearTimeout(cut);
        resolve();
      });
    });

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        const where = `${host ?? '*'}:${String(port)}`;
        const fail = (cause: Error): void => {
          reject(new Error(`cannot listen on ${where}: ${cause.message}`, { cause }));
        };
        server.once('error', fail);
        server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
          server.off('error', fail);
          // An accept that fails (out of file descriptors) costs that connection only.
          server.on('error', () => undefined);
          const bound = server.address();
          resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
        });
      }),
    close: (withinMs) => (closed ??= close(withinMs)),
  };
}

function lineOf({ code }: NodeJS.ErrnoException): string {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
}

/** For bytes that never became a request: the envelope with the status of the line. */
function rawAnswer(
  line: string,
  error: 'invalid_request' | 'method_not_allowed',
  requestId: string,
): string {
  const { headers, body } = errorAnswer(error, requestId);
  const description = `${line.slice(4).toLowerCase()}: expected an HTTP/1.1 request in time and size`;
  const envelope = { ...(JSON.parse(body) as object), errorDescription: description };
  const meta = { code: Number(line.slice(0, 3)), message: line.slice(4) };
  const text = JSON.stringify({ ...envelope, meta });
  const allow = headers['Allow'] === undefined ? '' : `Allow: ${headers['Allow']}\r\n`;
  return (
    `HTTP/1.1 ${line}\r\nConnection: close\r\n${allow}` +
    'Content-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n' +
    `X-Content-Type-Options: nosniff\r\nX-Request-Id: ${requestId}\r\n` +
    `Content-Length: ${String(Buffer.byteLength(text))}\r\n\r\n${text}`
  );
}
