import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { StoreError } from '../../src/core/errors';
import type { Counters } from '../../src/core/ports';
import {
  createCircuitBreaker,
  withCircuitBreaker,
  type BreakerChange,
} from '../../src/counters/circuit-breaker/circuit-breaker';
import { placeOf } from '../../src/counters/memcached/protocol';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { startStopwatch } from '../support/edge/core-time';
import { eventually } from '../support/edge/eventually';
import { eventuallyWithin, expectFigure } from '../support/edge/figure';
import {
  runMemcachedCounters,
  stopMemcachedCounters,
  untilAdded,
} from '../support/edge/memcached-counters';
import { startMemcachedServer } from '../support/edge/memcached-server';
import {
  connectRedisCounters,
  runRedisCounters,
  stopRedisCounters,
} from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startTcpProxy } from '../support/edge/tcp-proxy';
import { freePort } from '../support/free-port';

/** What rows of test/chaos/faults do not say: how counters go on beside a store that is away, hangs, or whose connections end. */

/** For what takes longer than it; elsewhere the time-out is as long as a busy machine may need. */
const TIMEOUT_MS = 150;
/** A timer of this process may be late by so much. */
const SLACK_MS = 300;
const BACK_WITHIN = { name: 'back', belowMs: 2_000 };
const UNKNOWN = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all([stopRedisCounters(), stopMemcachedCounters()]);
  await Promise.all(endings.splice(0).map((end) => end()));
});

async function ending<T>(starting: Promise<T>, end: (one: T) => Promise<unknown>): Promise<T> {
  const one = await starting;
  endings.push(() => end(one));
  return one;
}
const startRedis = (port?: number) =>
  ending(startRedisServer(port === undefined ? {} : { port }), (server) => server.stop());
const startMemcached = (port?: number) =>
  ending(startMemcachedServer(port === undefined ? {} : { port }), (server) => server.stop());
const startProxy = (port: number) => ending(startTcpProxy(port), (proxy) => proxy.close());

interface Running extends Counters {
  readonly states: readonly boolean[];
  readonly events: readonly { readonly kind: string }[];
  kinds(): readonly string[];
  untilConnected(): Promise<void>;
}

interface Store {
  readonly name: string;
  readonly start: (port?: number) => ReturnType<typeof startRedis | typeof startMemcached>;
  readonly run: (port: number, timeoutMs?: number, waitMs?: number) => Running;
  /** Everything that was answered is counted. */
  readonly settle: (counters: Running) => Promise<unknown>;
}

const at = (port: number) => ({ host: '127.0.0.1', port });
const STORES: readonly Store[] = [
  {
    name: 'Redis',
    start: startRedis,
    run: (port, timeoutMs = 2_000, waitMs = 50) =>
      runRedisCounters({
        address: { kind: 'tcp', ...at(port) },
        ...{ timeoutMs, startupInitialMs: waitMs, startupMaxMs: waitMs },
      }),
    settle: () => Promise.resolve(),
  },
  {
    name: 'memcached',
    start: startMemcached,
    run: (port, timeoutMs = 2_000, waitMs = 50) =>
      runMemcachedCounters([at(port)], {
        ...{ timeoutMs, initialIntervalMs: waitMs, maxIntervalMs: waitMs },
      }),
    settle: (counters) => untilAdded(counters as ReturnType<typeof runMemcachedCounters>),
  },
];

async function tryAdd(counters: Running, key = freshKey()) {
  const elapsedMs = startStopwatch();
  const result = await counters.add(batch([increment(key)])).then(
    ({ after }) => after[0],
    (error: unknown) => error as StoreError,
  );
  return { result, ms: elapsedMs() };
}

const untilItCounts = (counters: Running) =>
  eventuallyWithin(() => counters.add(batch([increment(freshKey())])), BACK_WITHIN);

/** As issued: KVSTORE_TIMEOUT=300ms. */
const HUNG = { timeoutMs: 300, openMs: 1_500, longestMs: 1_000, backMs: 2_500, p99Ms: 5 };

interface Call {
  readonly startMs: number;
  readonly ms: number;
  readonly error: StoreError | undefined;
}

/** Calls at a steady pace, whether or not those before were answered. */
function load(counters: Counters, everyMs: number) {
  const calls: Call[] = [];
  const open: Promise<void>[] = [];
  const call = async (): Promise<void> => {
    const startMs = performance.now();
    const elapsedMs = startStopwatch();
    const error = await counters.add(batch([increment(freshKey())])).then(
      () => undefined,
      (thrown: unknown) => thrown as StoreError,
    );
    calls.push({ startMs, ms: elapsedMs(), error });
  };
  const timer = setInterval(() => {
    for (let each = 0; each < 4; each += 1) open.push(call());
  }, everyMs);
  return {
    calls,
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

/** What is in use on the heap; not what is left for the next collection. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

const p99 = (calls: readonly Call[]): number =>
  calls.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(calls.length * 0.99)] ?? NaN;

describe.each(STORES)('$name', ({ start, run, settle }) => {
  it('whose connections something cuts, and which is well, is back after one short pause each time', async () => {
    const proxy = await startProxy((await start()).port);
    const counters = run(proxy.port, 2_000, 600_000);
    await counters.untilConnected();
    const times = (kind: string) => counters.kinds().filter((each) => each === kind).length;
    const key = freshKey();
    for (let cuts = 1; cuts <= 8; cuts += 1) {
      await eventually(() => counters.add(batch([increment(key)])));
      await settle(counters);
      const before = times('connected');
      proxy.reset();
      await eventuallyWithin(
        () => {
          expect([times('disconnected'), times('connected')]).toEqual([cuts, before + 1]);
        },
        { name: 'connected again', belowMs: 250 },
      );
    }
    expect(counters.kinds()).not.toContain('unreachable');
    await eventually(async () => {
      expect((await tryAdd(counters, key)).result).toBe(9);
    });
  });

  it('that is away fails every call at once until it is there', async () => {
    const port = await freePort();
    const counters = run(port, 2_000, 1_000);
    await eventually(() => {
      expect(counters.kinds()).toContain('unreachable');
    });
    const { result, ms } = await tryAdd(counters);
    expect(result).toMatchObject({ code: 'store_unavailable', fault: 'store' });
    expect((result as StoreError).message).toMatch(/is not available: connection refused/);
    expectFigure({ name: 'call', value: ms, unit: 'ms', below: SLACK_MS });
    await start(port);
    await untilItCounts(counters);
    expect(counters.states).toEqual([false, true]);
  });

  it('that hangs costs those who wait the time-out, and says to all others why they fail at once', async () => {
    const server = await start();
    const counters = run(server.port, TIMEOUT_MS);
    await counters.untilConnected();
    server.pause();
    const first = await Promise.all([tryAdd(counters), tryAdd(counters)]);
    for (const { result, ms } of first) {
      expect(result).toMatchObject({ code: 'store_timeout' });
      expectFigure({ name: 'call', value: ms, unit: 'ms', below: TIMEOUT_MS + SLACK_MS });
    }
    const { result, ms } = await tryAdd(counters);
    expect(result).toMatchObject({ code: 'store_unavailable' });
    expect((result as StoreError).message).toMatch(
      /is not available: .* did not answer within 150 ms/,
    );
    expectFigure({ name: 'next call', value: ms, unit: 'ms', below: TIMEOUT_MS });
    server.resume();
    await untilItCounts(counters);
  });

  it('that hangs under load is not asked while the breaker is open, and is asked again when it is back', async () => {
    const server = await start();
    const counters = run(server.port, HUNG.timeoutMs, 1_000);
    await counters.untilConnected();
    const changes: (BreakerChange & { readonly atMs: number })[] = [];
    const guarded = withCircuitBreaker(
      counters,
      createCircuitBreaker({
        monotonicMs: () => performance.now(),
        onChange: (change) => changes.push({ ...change, atMs: performance.now() }),
      }),
    );
    const { calls, stop } = load(guarded, 5);
    await eventually(() => {
      expect(calls.length).toBeGreaterThan(100);
      // A store that waited for a core may have looked like one that hangs.
      expect(changes.at(-1)?.kind ?? 'closed').toBe('closed');
    });
    const memoryBefore = usedBytes();
    server.pause();
    const hungMs = performance.now();
    const elapsedMs = startStopwatch();
    const opened = await eventually(() => {
      const first = changes.find(({ atMs }) => atMs > hungMs);
      if (first === undefined) throw new Error('the breaker is closed');
      return { ...first, afterMs: elapsedMs() };
    });
    await eventually(
      () => {
        expect(calls.filter(({ startMs }) => startMs > opened.atMs).length).toBeGreaterThan(1_500);
      },
      { withinMs: 30_000 },
    );
    const wokeMs = performance.now();
    server.resume();
    await eventuallyWithin(
      () => {
        expect(calls.at(-1)).toMatchObject({ error: undefined });
        expect(changes.at(-1)?.kind).toBe('closed');
      },
      { name: 'right again', belowMs: HUNG.backMs },
    );
    await stop();

    const away = calls.filter(({ startMs }) => startMs > opened.atMs && startMs < wokeMs);
    expect(away.filter(({ error }) => error === undefined)).toEqual([]);
    expect(usedBytes() - memoryBefore).toBeLessThan(50e6);
    const longestMs = Math.max(...calls.map(({ ms }) => ms));
    expectFigure({ name: 'open', value: opened.afterMs, unit: 'ms', below: HUNG.openMs });
    expectFigure({ name: 'p99 while open', value: p99(away), unit: 'ms', below: HUNG.p99Ms });
    expectFigure({ name: 'longest call', value: longestMs, unit: 'ms', below: HUNG.longestMs });
  });

  it('that hangs before the first connection is not taken for connected', async () => {
    const server = await start();
    server.pause();
    const counters = run(server.port, TIMEOUT_MS);
    await eventually(() => {
      const reason = expect.stringMatching(/answer within/) as string;
      expect(counters.events[0]).toMatchObject({ kind: 'unreachable', reason });
    });
    server.resume();
    await untilItCounts(counters);
  });

  it('that hangs does not keep the counters from closing', async () => {
    const server = await start();
    // Twice that ends the close: by far the later of the two, on a busy machine too.
    const counters = run(server.port, 1_000);
    await counters.untilConnected();
    server.pause();
    const open = tryAdd(counters);
    await counters.close();
    expect((await open).result).toMatchObject({ code: 'store_timeout' });
  });
});

it('a node of memcached that is away fails its own keys alone', async () => {
  const [one, other] = [await startMemcached(), await startMemcached()];
  const counters = runMemcachedCounters([one.address, other.address]);
  await counters.untilConnected(2);
  await other.kill();
  const keys = Array.from({ length: 20 }, () => freshKey());
  const { failures } = await eventually(async () => {
    const answer = await counters.add(batch(keys.map((key) => increment(key, 0))));
    expect(answer.failures).toBeDefined();
    return answer;
  });
  const failed = keys.filter((_, index) => failures?.has(index) === true);
  expect(failed).toEqual(keys.filter((key) => placeOf(key, 2, 1).node === 1));
  for (const error of failures?.values() ?? []) expect(error.fault).toBe('node');
});

describe('Redis', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedis();
  });
  const connected = async (...[port, ...more]: Parameters<Store['run']>) => {
    const [{ run }] = STORES as [Store];
    const counters = run(port, ...more) as ReturnType<typeof runRedisCounters>;
    await counters.untilConnected();
    return counters;
  };

  it('that hangs holds a bounded number of increments', async () => {
    const pool = { size: 1, onEmpty: 'error', onEmptyWaitMs: 50 } as const;
    const counters = await connectRedisCounters({
      address: server.address,
      timeoutMs: 3_000,
      pool,
    });
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

  it('that answers after the time-out gives no old answer to a new call', async () => {
    const proxy = await startProxy(server.port);
    const counters = await connected(proxy.port, TIMEOUT_MS);
    const slow = freshKey();
    await server.client.set(slow, '41');
    proxy.behaviour.answerDelayMs = TIMEOUT_MS * 2;
    expect((await tryAdd(counters, slow)).result).toMatchObject({ code: 'store_timeout' });
    proxy.behaviour.answerDelayMs = 0;
    expect((await untilItCounts(counters)).after).toEqual([1]);
    expect(await server.client.get(slow)).toBe('42');
  });

  it('that does not answer leaves the outcome unknown of each batch that waited, and of no other', async () => {
    const proxy = await startProxy(server.port);
    const counters = await connected(proxy.port, TIMEOUT_MS);
    proxy.behaviour.swallow = 'answers';
    const key = freshKey();
    await Promise.all([1, 2, 3].map(() => tryAdd(counters, key)));
    expect(await server.client.get(key)).toBe('3');
    expect((await tryAdd(counters, key)).result).toMatchObject({ code: 'store_unavailable' });
    expect(counters.statistics.get(UNKNOWN)).toBe(3);
  });

  it('whose connection breaks between the parts of a large batch has counted what it answered', async () => {
    const proxy = await startProxy(server.port);
    const counters = await connected(proxy.port);
    const key = freshKey();
    const many = Array.from({ length: 10_000 }, (_, index) => increment(`${key}_${String(index)}`));
    const done = counters.add(batch(many)).catch((error: unknown) => error);
    await eventually(async () => {
      expect(await server.client.exists(`${key}_0`)).toBe(1);
    });
    proxy.reset();
    const reply = await done;
    if (reply instanceof StoreError) return;
    const { after, failures } = reply as Awaited<ReturnType<typeof counters.add>>;
    for (const [index, count] of after.entries())
      expect(count).toBe(failures?.has(index) === true ? 0 : 1);
  });

  it('is heard by a process that was busy for longer than the time-out, when its answers came meanwhile', async () => {
    const counters = await connected(server.port, TIMEOUT_MS);
    const key = freshKey();
    // From here timers come next, before anything is read.
    await new Promise(setImmediate);
    const open = Promise.all([tryAdd(counters, key), tryAdd(counters, key)]);
    const untilMs = performance.now() + TIMEOUT_MS * 6;
    while (performance.now() < untilMs);
    expect((await open).map(({ result }) => result)).toEqual([1, 2]);
  });
});
