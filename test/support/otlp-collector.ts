import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { Server, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { listenGrpc } from './listen-grpc';
import { decodeSpans, type ReceivedSpan } from './otlp-messages';

/** A stub of an OpenTelemetry collector: decodes what it gets. */
export interface Collector {
  readonly port: number;
  readonly spans: readonly ReceivedSpan[];
  /** Headers of the exports. */
  readonly headers: readonly Readonly<Record<string, unknown>>[];
  /** From now on exports get no answer, until it is stopped. */
  hang(): void;
  stop(): Promise<void>;
}

const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

export async function startHttpCollector({ port = 0 } = {}): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const headers: Record<string, unknown>[] = [];
  const sockets = new Set<Socket>();
  let hangs = false;
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      if (hangs) return;
      const isGood = request.method === 'POST' && request.url === '/v1/traces';
      if (isGood) {
        headers.push(request.headers);
        spans.push(
          ...decodeSpans(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body),
        );
      }
      response.writeHead(isGood ? 200 : 404, { 'Content-Type': 'application/x-protobuf' });
      response.end();
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    spans,
    headers,
    hang() {
      hangs = true;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function startGrpcCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const headers: Record<string, unknown>[] = [];
  let hangs = false;
  const server = new Server();
  server.register(
    EXPORT,
    (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => {
      if (hangs) return;
      headers.push(call.metadata.getMap());
      spans.push(...decodeSpans(call.request));
      reply(null, Buffer.alloc(0));
    },
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => bytes,
    'unary',
  );
  const { port, stop } = await listenGrpc(server);
  return {
    port,
    spans,
    headers,
    hang() {
      hangs = true;
    },
    stop: () => {
      stop();
      return Promise.resolve();
    },
  };
}
