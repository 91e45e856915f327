import { createServer, type AddressInfo, type Socket } from 'node:net';
import { StoreError } from '../../src/core/errors';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { placeOf } from '../../src/counters/memcached/protocol';
import { startStopwatch } from '../support/edge/core-time';
import { eventually } from '../support/edge/eventually';
import { eventuallyWithin, expectFigure } from '../support/edge/figure';
import { freePort } from '../support/free-port';
import {
  runMemcachedCounters,
  stopMemcachedCounters,
  type RunningMemcachedCounters,
  untilAdded,
} from '../support/edge/memcached-counters';
import {
  startMemcachedServer,
  type MemcachedServer,
  type MemcachedServerOptions,
} from '../support/edge/memcached-server';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';

/** For what takes longer than it; elsewhere the time-out is as long as a busy machine may need. */
const TIMEOUT_MS = 150;
const IMPATIENT = { timeoutMs: TIMEOUT_MS };
/** A timer of this process may be late by so much. */
const SLACK_MS = 300;
/** The node is back: calls must work again within this time. */
const BACK_WITHIN = { name: 'back', belowMs: 2_000 };

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopMemcachedCounters();
  await Promise.all(endings.splice(0).map((end) => end()));
});

async function start(options?: MemcachedServerOptions): Promise<MemcachedServer> {
  const server = await startMemcachedServer(options);
  endings.push(() => server.stop());
  return server;
}

async function startProxy(port: number): Promise<TcpProxy> {
  const proxy = await startTcpProxy(port);
  endings.push(() => proxy.close());
  return proxy;
}

const at = (port: number) => ({ host: '127.0.0.1', port });

async function connected(
  ports: readonly number[],
  options?: Parameters<typeof runMemcachedCounters>[1],
): Promise<RunningMemcachedCounters> {
  const counters = runMemcachedCounters(ports.map(at), options);
  await counters.untilConnected(ports.length);
  return counters;
}

async function tryAdd(counters: RunningMemcachedCounters, key: string) {
  const elapsedMs = startStopwatch();
  const result = await counters.add(batch([increment(key)])).then(
    ({ after }) => after[0],
    (error: unknown) => error as StoreError,
  );
  return { result, ms: elapsedMs() };
}

const untilItCounts = (counters: RunningMemcachedCounters, key = freshKey()) =>
  eventuallyWithin(() => counters.add(batch([increment(key)])), BACK_WITHIN);

it('something that cuts connections of a node which is well is one short pause each time, not a wait', async () => {
  const node = await start();
  const proxy = await startProxy(node.port);
  const waits = { initialIntervalMs: 600_000, maxIntervalMs: 600_000 };
  const counters = await connected([proxy.port], waits);
  const key = freshKey();
  for (let cuts = 1; cuts <= 5; cuts += 1) {
    await eventually(() => counters.add(batch([increment(key)])));
    await untilAdded(counters);
    proxy.reset();
    await eventually(() => {
      const lost = counters.kinds().filter((kind) => kind === 'disconnected');
      expect(lost).toHaveLength(cuts);
    });
  }
  await eventually(() => counters.add(batch([increment(key)])));
  await untilAdded(counters);
  expect((await node.read(key))?.value).toBe('6');
});

describe('a node that is away', () => {
  it('fails every call at once until it is there, then works within 2 seconds', async () => {
    const port = await freePort();
    const counters = runMemcachedCounters([at(port)], { initialIntervalMs: 1_000 });
    await eventually(() => {
      expect(counters.kinds()).toContain('unreachable');
    });
    const { result, ms } = await tryAdd(counters, freshKey());
    expect(result).toMatchObject({ code: 'store_unavailable', fault: 'store' });
    expect((result as StoreError).message).toMatch(/is not available: connection refused/);
    expectFigure({ name: 'call', value: ms, unit: 'ms', below: SLACK_MS });
    await start({ port });
    await untilItCounts(counters);
    expect(counters.states).toEqual([false, true]);
  });

  it('that is killed and comes back is used again', async () => {
    const server = await start();
    const counters = await connected([server.port]);
    await server.kill();
    await eventually(async () => {
      expect((await tryAdd(counters, freshKey())).result).toBeInstanceOf(StoreError);
    });
    await start({ port: server.port });
    await untilItCounts(counters);
    await eventually(() => {
      expect(counters.states).toEqual([false, true, false, true]);
    });
  });

  it('fails its own keys alone', async () => {
    const [one, other] = [await start(), await start()];
    const counters = await connected([one.port, other.port]);
    await other.kill();
    const keys = Array.from({ length: 20 }, () => freshKey());
    const reply = await eventually(async () => {
      const answer = await counters.add(batch(keys.map((key) => increment(key, 0))));
      expect(answer.failures).toBeDefined();
      return answer;
    });
    const failed = keys.filter((_, index) => reply.failures?.has(index) === true);
    expect(failed).toEqual(keys.filter((key) => placeOf(key, 2, 1).node === 1));
    for (const error of reply.failures?.values() ?? []) expect(error.fault).toBe('node');
  });
});

describe('a node that hangs', () => {
  it('answers errors within the time-out, then at once, and works again when it wakes up', async () => {
    const server = await start();
    const counters = await connected([server.port], IMPATIENT);
    server.pause();
    const first = await Promise.all([freshKey(), freshKey()].map((key) => tryAdd(counters, key)));
    for (const { result, ms } of first) {
      expect(result).toMatchObject({ code: 'store_timeout' });
      expectFigure({ name: 'call', value: ms, unit: 'ms', below: TIMEOUT_MS + SLACK_MS });
    }
    const next = await tryAdd(counters, freshKey());
    expect(next.result).toMatchObject({ code: 'store_unavailable' });
    expectFigure({ name: 'next call', value: next.ms, unit: 'ms', below: TIMEOUT_MS });
    server.resume();
    await untilItCounts(counters);
  });

  it('is not taken for connected, because it does not answer', async () => {
    const server = await start();
    server.pause();
    const counters = runMemcachedCounters([server.address], IMPATIENT);
    await eventually(() => {
      expect(counters.events[0]).toMatchObject({
        kind: 'unreachable',
        reason: expect.stringMatching(/answer within/) as string,
      });
    });
    server.resume();
    await untilItCounts(counters);
  });

  it('does not keep the counters from closing', async () => {
    const server = await start();
    // Twice that ends the close: by far the later of the two, on a busy machine too.
    const counters = await connected([server.port], { timeoutMs: 1_000 });
    server.pause();
    const open = tryAdd(counters, freshKey());
    await counters.close();
    expect((await open).result).toMatchObject({ code: 'store_timeout' });
  });

  it('between the answer and the add loses those hits, and tells of it once', async () => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected([proxy.port], IMPATIENT);
    const key = freshKey();
    await counters.add(batch([increment(key)]));
    proxy.behaviour.swallow = 'requests';
    await eventually(() => {
      expect(counters.kinds()).toContain('disconnected');
    });
    proxy.behaviour.swallow = 'nothing';
    await untilItCounts(counters);
    expect(counters.pendingKeys).toBeLessThanOrEqual(1);
  });
});

describe('a network that fails', () => {
  it('that is slow delays answers, and costs nothing else', async () => {
    const proxy = await startProxy((await start()).port);
    const counters = await connected([proxy.port]);
    proxy.behaviour.answerDelayMs = TIMEOUT_MS / 3;
    const key = freshKey();
    const counts = await Promise.all([1, 2, 3].map(() => tryAdd(counters, key)));
    expect(counts.map(({ result }) => result)).toEqual([1, 2, 3]);
    expect(proxy.accepted).toBe(1);
  });

  it('breaks before the answer: an error, and nothing is added', async () => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected([proxy.port]);
    const key = freshKey();
    proxy.resetInsteadOfAnswer();
    expect((await tryAdd(counters, key)).result).toMatchObject({ code: 'store_unavailable' });
    await untilItCounts(counters);
    expect(await server.read(key)).toBeUndefined();
  });

  it('whatever it does, hits that were given an error are never added', async () => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected([proxy.port]);
    const key = freshKey();
    let answered = 0;
    for (let round = 0; round < 3; round += 1) {
      proxy.reset();
      const results = await Promise.all([1, 2, 3].map(() => tryAdd(counters, key)));
      answered += results.filter(({ result }) => typeof result === 'number').length;
      await untilItCounts(counters, key);
      answered += 1;
    }
    await untilAdded(counters);
    expect(Number((await server.read(key))?.value)).toBeLessThanOrEqual(answered);
  });
});

describe('a node that answers errors', () => {
  it('that holds something else under a key fails that key alone', async () => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected([proxy.port]);
    const key = freshKey();
    await server.ask(`set ${key} 0 60 5\r\nhello`);
    const { result } = await tryAdd(counters, key);
    expect(result).toMatchObject({ fault: 'key' });
    expect((result as StoreError).message).toMatch(/is not a number/);
    expect((await tryAdd(counters, freshKey())).result).toBe(1);
  });

  it('that is full fails no call, and tells that hits were not added', async () => {
    const port = await startScripted((command) => {
      if (command.startsWith('version')) return 'VERSION 1.6\r\n';
      if (command.startsWith('get')) return 'END\r\n';
      if (command.startsWith('incr')) return 'NOT_FOUND\r\n';
      return 'SERVER_ERROR out of memory storing object\r\n';
    });
    const counters = await connected([port]);
    expect((await tryAdd(counters, freshKey())).result).toBe(1);
    await eventually(() => {
      expect(counters.events.at(-1)).toMatchObject({
        kind: 'not-added',
        reason: expect.stringMatching(/answered: SERVER_ERROR out of memory/) as string,
      });
    });
    await tryAdd(counters, freshKey());
    await untilAdded(counters);
    expect(counters.kinds()).toEqual(['connected', 'not-added']);
    expect(counters.statistics.get('ratelimit.memcache.add.__code=error')).toBe(2);
  });

  it.each([
    ['says what nobody asked', 'END\r\nEND\r\n'],
    ['gives the answer to another question', '79\r\n'],
    ['sends a line without an end', 'x'.repeat(5_000)],
  ])('that %s is left', async (_, answer) => {
    const port = await startScripted((command) =>
      command.startsWith('version') ? 'VERSION 1.6\r\n' : answer,
    );
    const counters = await connected([port]);
    await tryAdd(counters, freshKey());
    await eventually(() => {
      expect(counters.kinds()).toContain('disconnected');
    });
  });
});

/** A server that gives to every command the answer of a function; answers its port. */
async function startScripted(answer: (command: string) => string): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const commands = chunk
        .toString()
        .split('\r\n')
        .filter((line) => /^[a-z]/.test(line));
      socket.write(commands.map(answer).join(''));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
