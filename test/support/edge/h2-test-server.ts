import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Http2Connection, Http2Stream } from '../../../src/wire/http2/api';
import { createHttp2Connection } from '../../../src/wire/http2/connection';
import { encodeStatelessBlock } from '../../../src/wire/http2/hpack/encoder';

const HEADERS = encodeStatelessBlock([
  [':status', '200'],
  ['content-type', 'text/plain'],
]);
const BODY = Buffer.from('hello over http/2\n');

export interface H2TestServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Our HTTP/2 over real sockets: answers every complete request with 200 and DATA. */
export async function startH2TestServer(): Promise<H2TestServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function serve(socket: Socket): void {
  const answer = (stream: Http2Stream, complete: boolean) => {
    if (!complete) return;
    connection.sendHeaders(stream, HEADERS, false);
    connection.sendData(stream, BODY, true);
  };
  const connection: Http2Connection = createHttp2Connection(
    {
      onRequest: (stream, _headers, endStream) => {
        answer(stream, endStream);
      },
      onData: (stream, _bytes, _start, _end, endStream) => {
        answer(stream, endStream);
      },
      onTrailers: (stream) => {
        answer(stream, true);
      },
      onReset: () => undefined,
    },
    { maxConcurrentStreams: 100 },
  );
  const write = () => {
    const piece = connection.takeOutput();
    if (piece !== undefined) socket.write(piece);
    if (connection.wantsClose) socket.end();
  };
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    connection.receive(bytes, performance.now());
    write();
  });
  socket.once('close', () => {
    connection.connectionLost();
  });
  write();
}
