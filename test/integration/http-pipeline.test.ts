import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { createHttpListener, HTTP_TIMEOUTS } from '../../src/platform/http-listener';
import { HttpTurns } from '../../src/platform/http-turns';
import { httpLimits } from '../support/http-limits';
import { createRandom } from '../fuzz/random';

/** Requests that come together on a connection: one is handled at a time, and all are answered in their order. */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A busy machine may take longer for thousands of requests than a client may for the head of one. */
const TIMEOUTS = { ...HTTP_TIMEOUTS, headersMs: 60_000, requestMs: 60_000 };

async function start(handle: RequestListener, turns = new HttpTurns()) {
  const listener = createHttpListener(
    { handle },
    {
      ...{ host: '127.0.0.1', port: 0, timeouts: TIMEOUTS },
      limits: { ...httpLimits(), turns },
    },
  );
  const { port } = await listener.listen();
  cleanups.push(() => listener.close(0));
  return port;
}

/** Writes pieces, then ends its side, and answers all that comes back. */
function exchange(port: number, pieces: readonly (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(Buffer.concat(chunks).toString('latin1'));
    });
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const bodiesOf = (answers: string) =>
  [...answers.matchAll(/\r\n\r\n<([^>]*)>/g)].map(([, body]) => body);

/** Answers with the URL and the body, after as many turns as `wait` says, and counts what is open on a connection. */
function echo(wait: () => number) {
  const open = new Map<unknown, number>();
  let most = 0;
  const handle: RequestListener = (request, response) => {
    const { socket } = request;
    open.set(socket, (open.get(socket) ?? 0) + 1);
    most = Math.max(most, open.get(socket) ?? 0);
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    request.on('end', (): void => {
      const answer = `<${request.url ?? ''} ${Buffer.from(body, 'latin1').toString('hex')}>`;
      const later = (turns: number): void => {
        if (turns > 0) {
          setImmediate(() => {
            later(turns - 1);
          });
          return;
        }
        open.set(socket, (open.get(socket) ?? 0) - 1);
        response.writeHead(200, ['Content-Length', String(answer.length)]);
        response.end(answer);
      };
      later(wait());
    });
  };
  return { handle, most: () => most };
}

/** A whole number below `limit` each time. */
function lessThan(seed: number, limit: number): () => number {
  const random = createRandom(seed);
  return () => random.below(limit);
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => `/${String(at)}`);

/** Four reads of the socket, each with several times what may begin, or be parsed, in a turn. */
const MANY = 8_000;

it.each([1, 2, 5])(
  'answers 8,000 requests of one write in their order, in up to %i turns, though the client has ended its side',
  async (turns) => {
    const { handle, most } = echo(lessThan(7, turns));
    const port = await start(handle);
    const answers = await exchange(port, [
      numbers(MANY)
        .map((path) => get(path))
        .join(''),
    ]);
    expect(bodiesOf(answers)).toEqual(numbers(MANY).map((path) => `${path} `));
    expect(most()).toBe(1);
  },
  60_000,
);

/** A request with a body that looks like requests itself, in one of the ways to send one. */
function requestOf(path: string, at: number): readonly [request: string, body: string] {
  const body = `${get('/not-one')}\r\n\r\n${'x'.repeat((at * 37) % 5_000)}\r\n\r\n`;
  if (at % 3 === 0) return [get(path), ''];
  if (at % 3 === 1)
    return [
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
      body,
    ];
  const half = Math.floor(body.length / 2);
  const chunks = [body.slice(0, half), body.slice(half)]
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join('');
  return [
    `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    body,
  ];
}

it.each([1, 2, 3])(
  'reads bodies as they are, wherever the bytes are cut (%i)',
  async (seed) => {
    const { handle, most } = echo(lessThan(seed, 2));
    const port = await start(handle);
    const requests = numbers(400).map(requestOf);
    const bytes =
      numbers(40)
        .map((path) => get(path))
        .join('') + requests.map(([request]) => request).join('');
    const pieces: string[] = [];
    const size = lessThan(seed, 30_000);
    for (let at = 0; at < bytes.length;) {
      const length = 1 + size();
      pieces.push(bytes.slice(at, at + length));
      at += length;
    }
    const answers = await exchange(port, pieces);
    const expected = requests.map(
      ([, body], at) => `/${String(at)} ${Buffer.from(body).toString('hex')}`,
    );
    expect(bodiesOf(answers)).toEqual([...numbers(40).map((path) => `${path} `), ...expected]);
    expect(most()).toBe(1);
  },
  60_000,
);

it.each([1, 20, 3_000])(
  'refuses what follows %i requests and is none after their answers',
  async (count) => {
    const port = await start(echo(() => 1).handle);
    const answers = await exchange(port, [
      numbers(count)
        .map((path) => get(path))
        .join('') + 'GARBAGE\r\n\r\n',
    ]);
    expect(bodiesOf(answers)).toEqual(numbers(count).map((path) => `${path} `));
    expect(answers).toMatch(/>HTTP\/1\.1 400 Bad Request\r\n/);
  },
);

it.each([1, 20, 3_000])(
  'begins nothing after a request that asks to close, %i requests in',
  async (count) => {
    const seen: string[] = [];
    const { handle } = echo(() => 1);
    const port = await start((request, response) => {
      seen.push(request.url ?? '');
      handle(request, response);
    });
    const before = numbers(count);
    const bytes = [
      ...before.map((path) => get(path)),
      get('/last', 'Connection: close\r\n'),
      get('/never').repeat(100),
    ];
    expect(bodiesOf(await exchange(port, [bytes.join('')]))).toEqual(
      [...before, '/last'].map((path) => `${path} `),
    );
    expect(seen).toEqual([...before, '/last']);
  },
);

it('begins a bounded number of requests in a turn, over all connections of all ports', async () => {
  const turns = new HttpTurns();
  let inTurn = 0;
  let most = 0;
  let handled = 0;
  let isDone = false;
  const turn = (): void => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (!isDone) setImmediate(turn);
  };
  const handle: RequestListener = (_request, response) => {
    inTurn += 1;
    handled += 1;
    response.writeHead(200, ['Content-Length', '0']);
    response.end();
  };
  const ports = [await start(handle, turns), await start(handle, turns)];
  turn();
  const flood = get('/').repeat(1_000);
  await Promise.all(Array.from({ length: 20 }, (_, at) => exchange(ports[at % 2] ?? 0, [flood])));
  isDone = true;
  expect(handled).toBe(20_000);
  // What came in the turn, and what waited for it.
  expect(most).toBeLessThanOrEqual(64);
}, 60_000);
