import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { from } from 'rxjs';
import type { ByteBudget } from './byte-budget';
import { monotonicMs } from './clock';
import { HttpConnection } from './http-connection';
import { HttpPipeline } from './http-pipeline';
import { HttpTurns } from './http-turns';
import { limitConnections } from './limit-connections';
import { ListenError } from './listen-address';

/** The service on one port. */
export interface HttpService {
  readonly handle: RequestListener;
  /** False: requests have no body to wait for, and their `Expect` headers are ignored. Default: true. */
  readonly takesBodies?: boolean;
  /** Requests that are answered although the budget of bytes is spent. Default: none. */
  readonly isVital?: (request: IncomingMessage) => boolean;
  /** Default: rejectInJson. */
  readonly reject?: Reject;
}

/** Limits that the ports of a process share. */
export interface HttpLimits {
  readonly budget: ByteBudget;
  /** Per port; further connections are closed as soon as they are accepted. */
  readonly maxConnections: number;
  /** Default: the port has turns of its own. */
  readonly turns?: HttpTurns;
}

export interface HttpListenerOptions {
  /** Port 0: any free one. Host '': every address. */
  readonly host: string;
  readonly port: number;
  readonly limits: HttpLimits;
  /** Default: HTTP_TIMEOUTS. */
  readonly timeouts?: HttpTimeouts;
}

export interface HttpTimeouts {
  /** Time limit for a client's headers (slow header attacks). */
  readonly headersMs: number;
  /** Time limit for a whole request. */
  readonly requestMs: number;
  /** How long a connection may idle between requests. */
  readonly keepAliveMs: number;
  /** A client that reads none of its pending bytes within this time is disconnected. */
  readonly unreadMs: number;
  readonly checkEveryMs: number;
}

export const HTTP_TIMEOUTS: HttpTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  // Longer than the 60 s after which common load balancers close idle connections themselves.
  keepAliveMs: 65_000,
  unreadMs: 30_000,
  checkEveryMs: 250,
};

const MAX_HEADER_BYTES = 16 * 1_024;
/** Time without reading that one check may count. */
const MAX_ELAPSED_MS = 1_000;

/** The HTTP/1.1 listener: time-outs, bounds on connections and bytes, answers in order, an orderly close. */
export function createHttpListener(
  { handle, takesBodies = true, isVital = () => false, reject = rejectInJson }: HttpService,
  { host, port, limits, timeouts = HTTP_TIMEOUTS }: HttpListenerOptions,
) {
  const { budget, maxConnections, turns = new HttpTurns() } = limits;
  const { unreadMs, checkEveryMs } = timeouts;
  const connections = new Map<Socket, HttpConnection>();
  let looking: NodeJS.Timeout | undefined;
  let closed: Promise<void> | undefined;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));

  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: checkEveryMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node's own answer to a request without Host has no body.
    requireHostHeader: false,
  });
  // Their size is the limit: a second Authorization must not hide after two thousand other headers.
  server.maxHeadersCount = 0;
  limitConnections(server, maxConnections);

  server.on('connection', (socket) => {
    const end = () => {
      budget.end(connection);
    };
    const pipeline = new HttpPipeline(socket, { turns, begin, end });
    const connection = new HttpConnection(socket, budget, pipeline);
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      connection.forget();
      pipeline.forget();
    });
  });
  const answerRejected = (response: ServerResponse, status: RejectStatus): void => {
    const { headers, body } = reject(status);
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  };
  function noteWritten(this: ServerResponse): void {
    if (this.socket !== null) connections.get(this.socket)?.noteWritten();
  }
  const begin = (response: ServerResponse): void => {
    const { req: request } = response;
    if (request.url?.startsWith('/') !== true) useOriginForm(request);
    response.once('close', () => {
      connections.get(request.socket)?.close(response);
    });
    // `finish` would wait until the client has read the answer.
    response.once('prefinish', noteWritten);
    if (closed !== undefined) response.setHeader('Connection', 'close');
    const isOld = request.httpVersionMajor === 1 && request.httpVersionMinor === 0;
    if (!isOld && request.headers.host === undefined) {
      response.setHeader('Connection', 'close');
      answerRejected(response, 400);
    } else if (budget.isSpent && !isVital(request)) {
      answerRejected(response, 503);
    } else handle(request, response);
  };
  const onRequest: RequestListener = (request, response) => {
    connections.get(request.socket)?.open(response);
  };
  server.on('request', onRequest);
  if (!takesBodies) {
    server.on('checkContinue', onRequest);
    server.on('checkExpectation', onRequest);
  }
  const refuse = (socket: Socket, status: RejectStatus): void => {
    const connection = connections.get(socket);
    if (connection === undefined || !socket.writable) socket.destroy();
    else connection.refuse(rawAnswer(status, reject(status)));
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, statusOf(error));
  });
  server.on('connect', (_request, socket: Socket) => {
    refuse(socket, 405);
  });

  let lookedMs = monotonicMs();
  const check = (): void => {
    const nowMs = monotonicMs();
    // A client is not at fault while the process itself is stalled.
    const elapsedMs = Math.min(nowMs - lookedMs, MAX_ELAPSED_MS);
    lookedMs = nowMs;
    for (const connection of connections.values()) connection.check(elapsedMs, unreadMs);
  };

  const close = (withinMs: number): Promise<void> =>
    new Promise((resolve) => {
      for (const { openAnswers } of connections.values()) {
        for (const response of openAnswers)
          if (!response.headersSent) response.setHeader('Connection', 'close');
      }
      const cut = setTimeout(() => {
        server.closeAllConnections();
      }, withinMs);
      // Closes the idle connections too; its error only means that it did not listen.
      server.close(() => {
        clearTimeout(cut);
        clearInterval(looking);
        end();
        resolve();
      });
    });

  return {
    /** Emits nothing useful and never fails; completes after `close`. */
    run$: from(ended),
    /** Settles with the bound address; rejects with a message that names it. */
    listen: () =>
      new Promise<{ readonly host: string; readonly port: number }>((resolve, fail) => {
        const onError = (error: Error) => {
          fail(new ListenError({ host, port }, error));
        };
        server.once('error', onError);
        server.listen({ host, port }, () => {
          server.off('error', onError);
          // A failed accept (out of file descriptors) costs only that connection.
          server.on('error', () => undefined);
          looking = setInterval(check, checkEveryMs);
          const bound = server.address();
          resolve({ host, port: typeof bound === 'object' && bound !== null ? bound.port : port });
        });
      }),
    /** Accepts nothing new, waits for requests in flight, destroys the rest after `withinMs`. Safe to call twice. */
    close: (withinMs: number) => (closed ??= close(withinMs)),
  };
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;

/** `GET http://a/b` is `GET /b` with the Host `a`, whatever its Host header (RFC 9112, 3.2.2). */
function useOriginForm(request: IncomingMessage): void {
  const [, authority, target = ''] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (authority === undefined) return;
  request.url = target.startsWith('/') ? target : `/${target}`;
  if (request.headers.host !== undefined) request.headers.host = authority;
}

function statusOf({ code }: NodeJS.ErrnoException): RejectStatus {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

function rawAnswer(status: RejectStatus, { headers, body }: ReturnType<Reject>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = `Content-Length: ${String(Buffer.byteLength(body))}`;
  const head = `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n`;
  return `${head}${lines.join('')}${length}\r\n\r\n${body}`;
}

/** The listener answers these itself: no Host or no HTTP, CONNECT, too slow, too long headers, no room. */
export type RejectStatus = 400 | 405 | 408 | 431 | 503;

/** A port's answer where its handler is not called. */
export type Reject = (status: RejectStatus) => {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The mistake in words: the same on every port. */
export function describeRejection(status: RejectStatus): string {
  if (status === 503) return 'the connections to this service hold too many bytes, try again later';
  const expected = 'expected a complete HTTP/1.1 request within the limits on time and size';
  return `${(STATUS_CODES[status] ?? '').toLowerCase()}: ${expected}`;
}

/** In the form of the other refusals of `POST /json`. */
const rejectInJson: Reject = (status) => ({
  headers: {
    'Content-Type': 'application/json',
    ...(status === 405 && { Allow: '' }),
    ...(status === 503 && { 'Retry-After': '1' }),
  },
  body: JSON.stringify({
    error: describeRejection(status),
    ...(status === 503 && { code: 'overloaded' }),
  }),
});
