import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { ByteBudget } from '../../src/platform/byte-budget';
import {
  createHttpListener,
  HTTP_TIMEOUTS,
  type HttpService,
  type HttpTimeouts,
} from '../../src/platform/http-listener';
import { createReject } from '../../src/identity/service/create-identity-service';
import { eventually } from '../support/edge/eventually';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const LAST_GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const GARBAGE = '\0\0\0\r\n\r\n';

interface Options {
  readonly maxHeldBytes?: number;
  readonly maxConnections?: number;
  readonly timeouts?: Partial<HttpTimeouts>;
  readonly service?: Partial<HttpService>;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(handle: RequestListener, options: Options = {}) {
  const { maxHeldBytes = 134_217_728, maxConnections = 10_000 } = options;
  let ended = 0;
  const budget = new ByteBudget(maxHeldBytes, () => (ended += 1));
  const listener = createHttpListener(
    { handle, ...options.service },
    {
      host: '127.0.0.1',
      port: 0,
      limits: { budget, maxConnections },
      timeouts: { ...HTTP_TIMEOUTS, ...options.timeouts },
    },
  );
  const { port } = await listener.listen();
  cleanups.push(() => listener.close(0));
  return {
    listener,
    port,
    budget,
    ended: () => ended,
    ask: () => fetch(`http://127.0.0.1:${String(port)}/`),
  };
}

/** A client that reads nothing until it is asked to. */
function client(port: number, bytes: string) {
  const socket = connect(port, '127.0.0.1');
  cleanups.push(() => socket.destroy());
  // Closed before its bytes were read, it hears a reset first, where those had arrived by then.
  socket.on('error', () => undefined).pause();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(bytes, 'latin1');
  let heard = '';
  return {
    socket,
    closed,
    heard: () => heard,
    read() {
      socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')));
      socket.resume();
    },
  };
}

async function everything(port: number, bytes: string): Promise<string> {
  const { closed, heard, read } = client(port, bytes);
  read();
  await closed;
  return heard();
}

/** More than the kernel takes for a client that does not read. */
const LARGE = 'x'.repeat(12_000_000);

const answerLarge: RequestListener = (_request, response) => {
  response.end(LARGE);
};

/** A handler whose answers wait until the test gives them. */
function waiting() {
  const responses: ServerResponse[] = [];
  const handle: RequestListener = (request, response) => {
    request.resume();
    responses.push(response);
  };
  return { responses, handle };
}

describe('what a client does not read', () => {
  const soon = { unreadMs: 200, checkEveryMs: 20 };

  it('ends its connection in time', async () => {
    const { port, budget, ended } = await start(answerLarge, { timeouts: soon });
    client(port, GET);
    await eventually(() => {
      expect([ended(), budget.heldBytes]).toEqual([1, 0]);
    });
  });

  it('is held against its connection, and forgotten with it', async () => {
    const { port, budget } = await start(answerLarge);
    const { socket } = client(port, GET);
    await eventually(() => {
      expect(budget.heldBytes).toBeGreaterThan(1_000_000);
    });
    socket.destroy();
    await eventually(() => {
      expect(budget.heldBytes).toBe(0);
    });
  });

  it('ends a connection on which it grows beyond 16 MiB', async () => {
    const { port, ended, budget } = await start((_request, response) => {
      response.end(LARGE + LARGE);
    });
    client(port, GET);
    await eventually(() => {
      expect([ended(), budget.heldBytes]).toEqual([1, 0]);
    });
  });
});

describe('a body that does not end', () => {
  it('is held against its connection', async () => {
    const { port, budget } = await start(waiting().handle, { timeouts: { checkEveryMs: 20 } });
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n\r\n';
    client(port, head + 'x'.repeat(500_000));
    await eventually(() => {
      expect(budget.heldBytes).toBeGreaterThanOrEqual(500_000);
    });
  });

  it('is not held any more once it is thrown away after its answer', async () => {
    const later: ServerResponse[] = [];
    const { port, budget } = await start(
      (request, response) => {
        request.resume();
        if (request.method === 'POST') response.end('no');
        else later.push(response);
      },
      { timeouts: { checkEveryMs: 20 } },
    );
    const { socket } = client(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n');
    const answered = once(socket, 'data');
    socket.resume();
    await answered;
    socket.write(`${'x'.repeat(900_000)}${GET}`);
    await eventually(() => {
      expect(later).toHaveLength(1);
      expect(budget.heldBytes).toBeGreaterThan(0);
    });
    expect(budget.heldBytes).toBeLessThan(100_000);
  });
});

describe('a budget that is spent', () => {
  /** Two clients that do not read spend it; the first, which holds more, is ended for that. */
  async function spend(service: Partial<HttpService> = {}) {
    const { responses, handle } = waiting();
    const started = await start(handle, { maxHeldBytes: 10_000_000, service });
    client(started.port, GET);
    client(started.port, GET);
    await eventually(() => {
      expect(responses).toHaveLength(2);
    });
    responses[0]?.end('x'.repeat(9_900_000));
    responses[1]?.end('x'.repeat(9_800_000));
    await eventually(() => {
      expect(started.budget.isSpent).toBe(true);
    });
    return { ...started, responses };
  }

  it('ends the connection that holds most and refuses new requests with 503', async () => {
    const { ask, ended, responses, budget } = await spend();
    expect(ended()).toBe(1);
    expect(budget.heldBytes).toBeLessThanOrEqual(10_000_000);
    const refused = await ask();
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      503,
      'application/json',
    ]);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toEqual({
      error: 'the connections to this service hold too many bytes, try again later',
      code: 'overloaded',
    });
    expect(responses).toHaveLength(2);
  });

  it('lets through what says whether the service is healthy', async () => {
    const { ask, responses } = await spend({ isVital: ({ url }) => url === '/' });
    const asked = ask();
    await eventually(() => {
      expect(responses).toHaveLength(3);
    });
    responses[2]?.end();
    expect((await asked).status).toBe(200);
  });

  it('serves again once a quarter is free', async () => {
    const { ask, responses, budget } = await spend();
    responses.at(-1)?.destroy();
    await eventually(() => {
      expect(budget.isSpent).toBe(false);
    });
    const asked = ask();
    await eventually(() => {
      expect(responses).toHaveLength(3);
    });
    responses[2]?.end();
    expect((await asked).status).toBe(200);
  });
});

describe.each([
  ['the decision service', {}],
  ['the identity service', { takesBodies: false, reject: createReject(() => 'id') }],
] as const)('bytes that are no request, sent to %s after a good one', (_name, service) => {
  it.each([
    ['garbage', GARBAGE, 400, {}],
    ['headers that are too long', `GET / HTTP/1.1\r\nx: ${'x'.repeat(40_000)}\r\n`, 431, {}],
    ['half a request', 'GET / HTTP/1.1\r\nHo', 408, { headersMs: 100, checkEveryMs: 20 }],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405, {}],
  ] as const)('%s: the refusal comes after the answer', async (_about, bytes, status, timeouts) => {
    const { handle, responses } = waiting();
    const { port } = await start(handle, { service, timeouts });
    const { closed, heard, read, socket } = client(port, GET + bytes);
    read();
    await eventually(() => {
      expect(responses).toHaveLength(1);
    });
    responses[0]?.write('first ');
    await once(socket, 'data');
    // One that came later with nothing before it: once it is refused, the other one was met too.
    expect(await everything(port, bytes)).toContain(`HTTP/1.1 ${String(status)} `);
    responses[0]?.end('and last');
    await closed;
    const answers = heard().split(/(?=HTTP\/1\.1 \d)/);
    expect(answers.map((answer) => answer.slice(0, 12))).toEqual([
      'HTTP/1.1 200',
      `HTTP/1.1 ${String(status)}`,
    ]);
    expect(answers[0]).toMatch(/first [^]*and last\r\n0\r\n\r\n$/);
  });

  it('never stand in the middle of an answer without end', async () => {
    const { handle, responses } = waiting();
    const { port } = await start(handle, { service });
    const { closed, heard, read, socket } = client(port, GET + GARBAGE);
    read();
    await eventually(() => {
      expect(responses).toHaveLength(1);
    });
    for (let i = 0; i < 10; i++) {
      responses[0]?.write(`event ${String(i)}\n`);
      await eventually(() => {
        expect(heard()).toContain(`event ${String(i)}\n`);
      });
    }
    expect(heard().match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
    socket.destroy();
    await closed;
    await eventually(() => {
      expect(responses[0]?.destroyed).toBe(true);
    });
  });

  it('are answered at once when they belong to a request of which the rest is missing', async () => {
    const { port } = await start(waiting().handle, { service });
    const broken = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n';
    expect(await everything(port, broken)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('connections', () => {
  it('beyond the most that a port takes are closed at once, and taken when there is room', async () => {
    const { port } = await start((_request, response) => response.end('hello'), {
      maxConnections: 2,
    });
    const kept: Socket[] = [];
    for (let i = 0; i < 2; i++) {
      const { socket, read } = client(port, GET);
      read();
      await once(socket, 'data');
      kept.push(socket);
    }
    expect(await everything(port, GET)).toBe('');
    kept[0]?.destroy();
    // Not by `fetch`: it waits for ever where its connection is closed before it has seen that it is open.
    await eventually(async () => {
      expect(await everything(port, LAST_GET)).toMatch(/^HTTP\/1\.1 200 /);
    });
  });
});

it('names the address that it cannot listen on', async () => {
  const { port } = await start(answerLarge);
  const second = createHttpListener(
    { handle: answerLarge },
    { host: '127.0.0.1', port, limits: { budget: new ByteBudget(1), maxConnections: 1 } },
  );
  await expect(second.listen()).rejects.toThrow(`cannot listen on 127.0.0.1:${String(port)}: `);
});
