import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../../src/core/errors';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { startStopwatch } from '../support/edge/core-time';
import { eventually } from '../support/edge/eventually';
import { eventuallyWithin, expectFigure } from '../support/edge/figure';
import { freePort } from '../support/free-port';
import {
  runRedisCounters,
  stopRedisCounters,
  type RunningRedisCounters,
} from '../support/edge/redis-counters';
import {
  startRedisServer,
  type RedisServer,
  type RedisServerOptions,
} from '../support/edge/redis-server';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';

/** For what takes longer than it; elsewhere the time-out is as long as a busy machine may need. */
const TIMEOUT_MS = 150;
const IMPATIENT = { timeoutMs: TIMEOUT_MS };
/** A timer of this process may be late by so much. */
const SLACK_MS = 300;
/** The store is back: calls must work again within this time. */
const BACK_WITHIN = { name: 'back', belowMs: 2_000 };

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(endings.splice(0).map((end) => end()));
});

async function start(options?: RedisServerOptions): Promise<RedisServer> {
  const server = await startRedisServer(options);
  endings.push(() => server.stop());
  return server;
}

async function startProxy(port: number): Promise<TcpProxy> {
  const proxy = await startTcpProxy(port);
  endings.push(() => proxy.close());
  return proxy;
}

/** What the service uses unless told otherwise. */
const SERVICE_INTERVALS = { startupInitialMs: 1_000, startupMaxMs: 1_000 };

type Options = Parameters<typeof runRedisCounters>[0];

function run(port: number, options: Partial<Options> = {}) {
  return runRedisCounters({ address: { kind: 'tcp', host: '127.0.0.1', port }, ...options });
}

async function connected(server: { readonly port: number }, options?: Partial<Options>) {
  const counters = run(server.port, options);
  await counters.untilConnected();
  return counters;
}

interface Outcome {
  readonly result: 'counted' | StoreError;
  readonly ms: number;
}

async function tryAdd(counters: RunningRedisCounters, key: string): Promise<Outcome> {
  const elapsedMs = startStopwatch();
  const result = await counters.add(batch([increment(key)])).then(
    () => 'counted' as const,
    (error: unknown) => error as StoreError,
  );
  return { result, ms: elapsedMs() };
}

/** Calls in a row, as fast as they are answered, until told to stop. */
function hammer(counters: RunningRedisCounters, key: string) {
  const outcomes: Outcome[] = [];
  let calls = 0;
  let isStopped = false;
  const worker = async (): Promise<void> => {
    while (!isStopped) {
      calls += 1;
      const outcome = await tryAdd(counters, key);
      outcomes.push(outcome);
      await delay(outcome.result === 'counted' ? 0 : 5);
    }
  };
  const done = Promise.all([worker(), worker(), worker(), worker()]);
  return {
    outcomes,
    counted: () => outcomes.filter(({ result }) => result === 'counted').length,
    errors: () => outcomes.map(({ result }) => result).filter((result) => result !== 'counted'),
    async stop() {
      isStopped = true;
      await done;
      return calls;
    },
  };
}

const untilItCounts = (counters: RunningRedisCounters) =>
  eventuallyWithin(() => counters.add(batch([increment(freshKey())])), BACK_WITHIN);

it('something that cuts connections of a server which is well is one short pause each time, not a wait', async () => {
  const server = await start();
  const proxy = await startProxy(server.port);
  const counters = await connected(proxy, { startupInitialMs: 600_000, startupMaxMs: 600_000 });
  const key = freshKey();
  for (let cuts = 1; cuts <= 5; cuts += 1) {
    await eventually(() => counters.add(batch([increment(key)])));
    proxy.reset();
    await eventually(() => {
      const lost = counters.kinds().filter((kind) => kind === 'disconnected');
      expect(lost).toHaveLength(cuts);
    });
  }
  await eventually(() => counters.add(batch([increment(key)])));
  expect(await server.client.get(key)).toBe('6');
});

describe('a server that is away', () => {
  it('fails every call at once until it is there, then works within 2 seconds', async () => {
    const port = await freePort();
    const counters = run(port, SERVICE_INTERVALS);
    await eventually(() => {
      expect(counters.kinds()).toContain('unreachable');
    });
    const { result, ms } = await tryAdd(counters, freshKey());
    expect(result).toMatchObject({ code: 'store_unavailable' });
    expect((result as StoreError).message).toMatch(/is not available: connection refused/);
    expectFigure({ name: 'call', value: ms, unit: 'ms', below: SLACK_MS });
    await start({ port });
    await untilItCounts(counters);
    expect(counters.states).toEqual([false, true]);
  });

  it('that is killed under load fails the calls meanwhile, and works within 2 seconds', async () => {
    const server = await start();
    const counters = await connected(server, SERVICE_INTERVALS);
    const key = freshKey();
    const load = hammer(counters, key);
    await eventually(() => {
      expect(load.counted()).toBeGreaterThan(50);
    });
    await server.kill();
    await eventually(() => {
      expect(load.errors().length).toBeGreaterThan(5);
    });
    const before = load.counted();
    await start({ port: server.port });
    await eventuallyWithin(() => {
      expect(load.counted()).toBeGreaterThan(before);
    }, BACK_WITHIN);
    await load.stop();
    expect(new Set(load.errors().map(({ code }) => code))).toEqual(new Set(['store_unavailable']));
    expect(counters.states).toEqual([false, true, false, true]);
  });
});

describe('a server that hangs', () => {
  it('costs no call more than the time-out, and works within 2 seconds of its return', async () => {
    const server = await start();
    const counters = await connected(server, { ...IMPATIENT, ...SERVICE_INTERVALS });
    const key = freshKey();
    const load = hammer(counters, key);
    await eventually(() => {
      expect(load.counted()).toBeGreaterThan(50);
    });
    server.pause();
    await eventually(() => {
      expect(load.errors().map(({ code }) => code)).toContain('store_timeout');
      expect(load.errors().map(({ code }) => code)).toContain('store_unavailable');
    });
    const before = load.counted();
    server.resume();
    await eventuallyWithin(() => {
      expect(load.counted()).toBeGreaterThan(before);
    }, BACK_WITHIN);
    const calls = await load.stop();
    const longestMs = Math.max(...load.outcomes.map(({ ms }) => ms));
    const below = TIMEOUT_MS + SLACK_MS;
    expectFigure({ name: 'longest call', value: longestMs, unit: 'ms', below });
    const count = Number(await server.client.get(key));
    expect(count).toBeGreaterThanOrEqual(load.counted());
    expect(count).toBeLessThanOrEqual(calls);
  });

  it('answers at once after the first time-out, and says why', async () => {
    const server = await start();
    const counters = await connected(server, IMPATIENT);
    server.pause();
    await tryAdd(counters, freshKey());
    const { result, ms } = await tryAdd(counters, freshKey());
    expect((result as StoreError).message).toMatch(
      /is not available: .* did not answer within 150 ms/,
    );
    expectFigure({ name: 'call', value: ms, unit: 'ms', below: SLACK_MS });
  });

  it('holds a bounded number of increments', async () => {
    const server = await start();
    const pool = { size: 1, onEmpty: 'error', onEmptyWaitMs: 50 } as const;
    const counters = await connected(server, { timeoutMs: 3_000, pool });
    server.pause();
    const many = Array.from({ length: 10_000 }, () => increment('one_key'));
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => counters.add(batch(many))),
    );
    const codes = results.map((each) =>
      each.status === 'rejected' ? (each.reason as StoreError).code : '',
    );
    expect(codes.slice(0, 6)).toEqual(new Array(6).fill('store_timeout'));
    expect(codes.slice(6)).toEqual(new Array(4).fill('store_unavailable'));
  });

  it('from before the first connection is used when it wakes up', async () => {
    const server = await start();
    server.pause();
    const counters = run(server.port, IMPATIENT);
    await eventually(() => {
      expect(counters.kinds()).toContain('unreachable');
    });
    expect(counters.events[0]).toMatchObject({
      reason: expect.stringMatching(/no answer within/) as string,
    });
    server.resume();
    await untilItCounts(counters);
  });

  it('does not keep the counters from closing', async () => {
    const server = await start();
    // Twice that ends the close: by far the later of the two, on a busy machine too.
    const counters = await connected(server, { timeoutMs: 1_000 });
    server.pause();
    const open = tryAdd(counters, freshKey());
    await counters.close();
    expect((await open).result).toMatchObject({ code: 'store_timeout' });
  });
});

describe('a network that fails', () => {
  it('that is slow delays answers, and costs nothing else', async () => {
    const proxy = await startProxy((await start()).port);
    const counters = await connected(proxy);
    proxy.behaviour.answerDelayMs = TIMEOUT_MS / 3;
    const outcomes = await Promise.all(['a', 'b', 'c'].map((key) => tryAdd(counters, key)));
    expect(outcomes.map(({ result }) => result)).toEqual(['counted', 'counted', 'counted']);
    expect(proxy.accepted).toBe(1);
  });

  it('that is slower than the time-out gives time-outs, and no old answer to a new call', async () => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected(proxy, IMPATIENT);
    const slow = freshKey();
    await server.client.set(slow, '41');
    proxy.behaviour.answerDelayMs = TIMEOUT_MS * 2;
    expect((await tryAdd(counters, slow)).result).toMatchObject({ code: 'store_timeout' });
    proxy.behaviour.answerDelayMs = 0;
    expect((await untilItCounts(counters)).after).toEqual([1]);
    expect(await server.client.get(slow)).toBe('42');
  });

  it.each([
    ['by script', true],
    ['by plain commands', false],
  ])('breaks before the answer: an error, and nothing is sent again, %s', async (_, scripts) => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected(proxy, { scripts });
    const key = freshKey();
    proxy.resetInsteadOfAnswer();
    const { result } = await tryAdd(counters, key);
    expect(result).toMatchObject({ code: 'store_unavailable' });
    expect((result as StoreError).message).toMatch(/may or may not be counted: .*ECONNRESET/);
    await untilItCounts(counters);
    expect(await server.client.get(key)).toBe('1');
    expect(await server.client.ttl(key)).toBeGreaterThan(0);
  });

  it('breaks between the parts of a large batch: what was answered is counted', async () => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected(proxy);
    const key = freshKey();
    const many = Array.from({ length: 10_000 }, (_, at) => increment(`${key}_${String(at)}`));
    const done = counters.add(batch(many)).catch((error: unknown) => error);
    await eventually(async () => {
      expect(await server.client.exists(`${key}_0`)).toBe(1);
    });
    proxy.reset();
    const reply = await done;
    if (reply instanceof StoreError) return;
    const { after, failures } = reply as Awaited<ReturnType<typeof counters.add>>;
    for (const [at, count] of after.entries())
      expect(count).toBe(failures?.has(at) === true ? 0 : 1);
  });

  it.each([['requests'], ['answers']] as const)(
    'swallows %s: time-outs, and back within 2 seconds',
    async (what) => {
      const proxy = await startProxy((await start()).port);
      const counters = await connected(proxy, IMPATIENT);
      proxy.behaviour.swallow = what;
      expect((await tryAdd(counters, freshKey())).result).toMatchObject({ code: 'store_timeout' });
      await eventually(() => {
        expect(counters.kinds()).toContain('unreachable');
      });
      proxy.behaviour.swallow = 'nothing';
      await untilItCounts(counters);
    },
  );

  it.each([['closes'], ['resets']])(
    '%s a connection on what it does not know, as twemproxy does: plain commands are used',
    async (how) => {
      const server = await start();
      const proxy = await startProxy(server.port);
      proxy.behaviour.closeOn = /eval|script/i;
      proxy.behaviour.closesWithReset = how === 'resets';
      const counters = await connected(proxy);
      expect(counters.kinds()).toEqual(['scripts-refused', 'connected']);
      const key = freshKey();
      expect((await tryAdd(counters, key)).result).toBe('counted');
      expect(await server.client.get(key)).toBe('1');
    },
  );

  it('breaks again and again after some calls: each time the next one is there within a tenth of a second', async () => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected(proxy, SERVICE_INTERVALS);
    for (let time = 0; time < 8; time += 1) {
      await eventually(async () => {
        expect((await tryAdd(counters, freshKey())).result).toBe('counted');
      });
      const connections = () => counters.kinds().filter((kind) => kind === 'connected').length;
      const before = connections();
      proxy.reset();
      await eventuallyWithin(
        () => {
          expect(connections()).toBe(before + 1);
        },
        { name: 'connected again', belowMs: 250 },
      );
    }
    expect(counters.kinds()).not.toContain('unreachable');
  });

  it('whatever it does, a counter lies between the answers given and the calls made', async () => {
    const server = await start();
    const proxy = await startProxy(server.port);
    const counters = await connected(proxy);
    const key = freshKey();
    const load = hammer(counters, key);
    const faults = [
      () => {
        proxy.reset();
      },
      () => {
        proxy.resetInsteadOfAnswer();
      },
      () => void server.client.script('FLUSH'),
    ];
    for (const fault of faults) {
      const before = load.counted();
      await eventually(() => {
        expect(load.counted()).toBeGreaterThan(before + 20);
      });
      fault();
    }
    const before = load.counted();
    await eventuallyWithin(() => {
      expect(load.counted()).toBeGreaterThan(before + 20);
    }, BACK_WITHIN);
    const calls = await load.stop();
    const count = Number(await server.client.get(key));
    expect(count).toBeGreaterThanOrEqual(load.counted());
    expect(count).toBeLessThanOrEqual(calls);
  });
});

describe('this process', () => {
  it('that was busy for longer than the time-out takes the answers that came meanwhile', async () => {
    const counters = await connected(await start(), IMPATIENT);
    const key = freshKey();
    // From here timers come next, before anything is read.
    await new Promise(setImmediate);
    const open = Promise.all([tryAdd(counters, key), tryAdd(counters, key)]);
    const untilMs = performance.now() + TIMEOUT_MS * 6;
    while (performance.now() < untilMs);
    expect((await open).map(({ result }) => result)).toEqual(['counted', 'counted']);
  });
});

describe('a server that answers errors', () => {
  it('that forgets its scripts gets them again, and nothing is counted twice', async () => {
    const server = await start();
    const counters = await connected(server);
    const key = freshKey();
    await server.client.script('FLUSH');
    await Promise.all(Array.from({ length: 20 }, () => counters.add(batch([increment(key)]))));
    await counters.add(batch([increment(key)], [1]));
    expect(await server.client.get(key)).toBe('21');
  });

  it('that is out of memory fails the call with its words and keeps the connection', async () => {
    const server = await start();
    const counters = await connected(server);
    await server.client.config('SET', 'maxmemory', '100kb');
    const { result } = await tryAdd(counters, freshKey());
    expect(result).toMatchObject({ code: 'store_unavailable' });
    expect((result as StoreError).message).toMatch(/answered: OOM command not allowed/);
    await server.client.config('SET', 'maxmemory', '0');
    expect((await tryAdd(counters, freshKey())).result).toBe('counted');
    expect(counters.states).toEqual([false, true]);
  });

  it('that became a replica is left, and used again when it is a master', async () => {
    const server = await start();
    const counters = await connected(server);
    await server.client.replicaof('127.0.0.1', await freePort());
    const { result } = await tryAdd(counters, freshKey());
    expect((result as StoreError).message).toMatch(/answered: READONLY/);
    await eventually(() => {
      expect(counters.states.slice(0, 3)).toEqual([false, true, false]);
    });
    await server.client.replicaof('NO', 'ONE');
    await untilItCounts(counters);
  });

  it('that waits for its master is not available', async () => {
    const server = await start({ settings: [['replica-serve-stale-data', 'no']] });
    const counters = await connected(server);
    await server.client.replicaof('127.0.0.1', await freePort());
    expect((await tryAdd(counters, freshKey())).result).toMatchObject({
      code: 'store_unavailable',
    });
    await eventually(() => {
      expect(counters.kinds()).toContain('unreachable');
    });
    await expect(counters.add(batch([increment(freshKey())]))).rejects.toThrow(/MASTERDOWN/);
    await server.client.replicaof('NO', 'ONE');
    await untilItCounts(counters);
  });

  it('that wants a password which it did not want before is not available', async () => {
    const server = await start();
    const counters = await connected(server);
    await server.client.config('SET', 'requirepass', 'new');
    await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually(() => {
      expect(counters.kinds()).toContain('unreachable');
    });
    await expect(counters.add(batch([increment(freshKey())]))).rejects.toThrow(/NOAUTH/);
    await server.client.config('SET', 'requirepass', '');
    await untilItCounts(counters);
  });

  it('that is busy with a script of others fails calls within the time-out', async () => {
    const server = await start({ settings: [['lua-time-limit', '10']] });
    const counters = await connected(server, IMPATIENT);
    const endless = server.client.eval('while true do end', 0).catch(() => undefined);
    const outcomes = [await tryAdd(counters, freshKey()), await tryAdd(counters, freshKey())];
    for (const { result, ms } of outcomes) {
      expect(result).toBeInstanceOf(StoreError);
      expectFigure({ name: 'call', value: ms, unit: 'ms', below: TIMEOUT_MS + SLACK_MS });
    }
    const rescuer = server.client.duplicate();
    await rescuer.script('KILL');
    rescuer.disconnect();
    await endless;
    await untilItCounts(counters);
  });

  it('that is loading is not available until it has loaded', async () => {
    const port = await freePort();
    const loading = await startAnswering(
      port,
      '-LOADING Redis is loading the dataset in memory\r\n',
    );
    const counters = run(port);
    await eventually(() => {
      expect(counters.kinds()).toContain('unreachable');
    });
    await expect(counters.add(batch([increment(freshKey())]))).rejects.toThrow(/LOADING/);
    await loading();
    await start({ port });
    await untilItCounts(counters);
  });
});

/** A server that gives one answer to everything; answers its stop. */
async function startAnswering(port: number, answer: string): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', () => socket.write(answer));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
}
