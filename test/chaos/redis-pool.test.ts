import { StoreError } from '../../src/core/errors';
import {
  MAX_BATCHES_IN_FLIGHT,
  PAUSE_AFTER_FAILURE_MS,
} from '../../src/counters/redis/connections';
import type { PoolOptions, RedisCountersOptions } from '../../src/counters/redis/options';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { startStopwatch } from '../support/edge/core-time';
import { eventually } from '../support/edge/eventually';
import { expectFigure } from '../support/edge/figure';
import {
  connectRedisCounters,
  stopRedisCounters,
  type RunningRedisCounters,
} from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';

const WAIT_MS = 100;
const FAR_MS = 150;
/** Long enough to do something meanwhile, on a busy machine too. */
const SLOW_MS = 1_000;

let server: RedisServer;
let proxy: TcpProxy;
let nowMs: number;
beforeEach(async () => {
  server = await startRedisServer();
  proxy = await startTcpProxy(server.port);
});
afterEach(async () => {
  proxy.release();
  await stopRedisCounters();
  await proxy.close();
  await server.stop();
});

function connect(pool: Partial<PoolOptions>, more?: Partial<RedisCountersOptions>) {
  return connectRedisCounters({
    address: { kind: 'tcp', host: '127.0.0.1', port: proxy.port },
    pool: { size: 1, onEmpty: 'wait', onEmptyWaitMs: WAIT_MS, ...pool },
    statisticsPrefix: 'pool',
    timeoutMs: 10_000,
    ...more,
  });
}

interface Outcome {
  readonly result: number | undefined | StoreError;
  /** What it took, less what this process waited for a core. */
  readonly ms: number;
  readonly wholeMs: number;
}

async function hit(counters: RunningRedisCounters, key: string): Promise<Outcome> {
  const startMs = performance.now();
  const elapsedMs = startStopwatch();
  const result = await counters.add(batch([increment(key)])).then(
    ({ after }) => after[0],
    (error: unknown) => error as StoreError,
  );
  return { result, ms: elapsedMs(), wholeMs: performance.now() - startMs };
}

/** So many batches that a connection is not free any more; their answers take a while. */
function occupy(counters: RunningRedisCounters, connections = 1): Promise<readonly Outcome[]> {
  const key = freshKey('busy');
  const many = Array.from({ length: MAX_BATCHES_IN_FLIGHT * connections }, () =>
    hit(counters, key),
  );
  return Promise.all(many);
}

async function untilServerSaw(count: number): Promise<void> {
  await eventually(async () => {
    const info = await server.client.info('commandstats');
    const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
    if (calls < count) throw new Error(`only ${String(calls)} calls`);
  });
}

const active = (counters: RunningRedisCounters) =>
  (counters.statistics.get('pool.cx_active') as () => number)();

describe('a pool', () => {
  it('uses one connection while that is enough, whatever its size', async () => {
    const counters = await connect({ size: 10 });
    const key = freshKey();
    for (let round = 0; round < 20; round += 1)
      await Promise.all(Array.from({ length: 10 }, () => hit(counters, key)));
    expect(proxy.accepted).toBe(1);
    expect(await server.client.get(key)).toBe('200');
  });

  it('whose server refuses more connections goes on with those it has', async () => {
    const counters = await connect({ size: 5 });
    await server.client.config('SET', 'maxclients', '2');
    proxy.behaviour.answerDelayMs = 20;
    const key = freshKey();
    const outcomes = await Promise.all(
      Array.from({ length: MAX_BATCHES_IN_FLIGHT * 3 }, () => hit(counters, key)),
    );
    expect(outcomes.every(({ result }) => typeof result === 'number')).toBe(true);
    expect(counters.kinds()).toContain('pool-not-grown');
    expect(counters.states).toEqual([false, true]);
  });

  it('is left as a whole when one of its connections shows that the server hangs', async () => {
    const counters = await connect({ size: 2 }, { timeoutMs: 150 });
    await occupy(counters, 2);
    await eventually(async () => {
      await occupy(counters, 2);
      expect(active(counters)).toBe(2);
    });
    server.pause();
    await occupy(counters);
    const { result, ms } = await hit(counters, freshKey());
    expect(result).toMatchObject({ code: 'store_unavailable' });
    expectFigure({ name: 'call', value: ms, unit: 'ms', below: 100 });
    server.resume();
    await eventually(() => counters.add(batch([increment(freshKey())])));
  });
});

describe('an empty pool', () => {
  it('ERROR: fails a batch after the wait duration, and nothing of it was sent', async () => {
    const counters = await connect({ onEmpty: 'error' });
    proxy.behaviour.answerDelayMs = SLOW_MS;
    const busy = occupy(counters);
    const key = freshKey();
    const { result, ms, wholeMs } = await hit(counters, key);
    expect(result).toMatchObject({ code: 'store_unavailable' });
    expect((result as StoreError).message).toMatch(
      /none of its 1 connections was free within 100 ms/,
    );
    expect(wholeMs).toBeGreaterThanOrEqual(WAIT_MS - 5);
    expectFigure({ name: 'call', value: ms, unit: 'ms', below: SLOW_MS });
    await busy;
    expect(await server.client.exists(key)).toBe(0);
    expect(counters.states).toEqual([false, true]);
  });

  it('CREATE: opens a connection beyond the size after the wait duration, and closes it again', async () => {
    const counters = await connect({ onEmpty: 'create' });
    proxy.behaviour.answerDelayMs = SLOW_MS * 2;
    const busy = occupy(counters);
    await untilServerSaw(MAX_BATCHES_IN_FLIGHT);
    proxy.behaviour.answerDelayMs = 0;
    const { result, ms, wholeMs } = await hit(counters, freshKey());
    expect(result).toBe(1);
    expect(wholeMs).toBeGreaterThanOrEqual(WAIT_MS - 5);
    expectFigure({ name: 'call', value: ms, unit: 'ms', below: SLOW_MS * 2 });
    expect(proxy.accepted).toBe(2);
    await busy;
    await eventually(() => {
      expect(active(counters)).toBe(1);
    });
    expect(counters.states).toEqual([false, true]);
  });

  it('WAIT: waits no longer than the time-out, and nothing of the batch was sent', async () => {
    const counters = await connect({ onEmpty: 'wait' }, { timeoutMs: 300 });
    server.pause();
    const busy = occupy(counters);
    const key = freshKey();
    const { result, ms } = await hit(counters, key);
    expect(result).toBeInstanceOf(StoreError);
    expectFigure({ name: 'call', value: ms, unit: 'ms', below: 600 });
    server.resume();
    await busy;
    expect(await server.client.exists(key)).toBe(0);
  });
});

/** Counters whose clock says that answers take so long while they connect, and stands still then. Later answers are held. */
async function connectFar(
  roundTripMs: number,
  pool: Partial<PoolOptions>,
  timeoutMs = 60_000,
): Promise<RunningRedisCounters> {
  let stepMs = roundTripMs;
  nowMs = 0;
  const counters = await connectRedisCounters(
    {
      address: { kind: 'tcp', host: '127.0.0.1', port: proxy.port },
      statisticsPrefix: 'pool',
      pool: { size: 10, onEmpty: 'wait', onEmptyWaitMs: 0, ...pool },
      timeoutMs,
    },
    { monotonicMs: () => (nowMs += stepMs) },
  );
  stepMs = 0;
  proxy.behaviour.holdsAnswers = true;
  return counters;
}

const addMany = (counters: RunningRedisCounters, key: string, many: number) =>
  Array.from({ length: many }, () =>
    counters.add(batch([increment(key)])).then(
      ({ after }) => after[0],
      (error: unknown) => error,
    ),
  );

/** Until so much was counted and so many connections were accepted, and the proxy has the answers to it. */
async function untilItHasCount(key: string, count: number, connections: number): Promise<void> {
  await eventually(async () => {
    expect([await server.client.get(key), proxy.accepted]).toEqual([String(count), connections]);
  });
  await server.client.ping();
}

/** Passes on the answers to what was sent up to now. */
function answerOnce(): void {
  proxy.release();
  proxy.behaviour.holdsAnswers = true;
}

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

describe('a pool far from its server', () => {
  it('sends at once what its connections will carry that are being opened', async () => {
    const counters = await connectFar(FAR_MS, {});
    const key = freshKey();
    const adding = addMany(counters, key, MAX_BATCHES_IN_FLIGHT * 9);
    await untilItHasCount(key, MAX_BATCHES_IN_FLIGHT * 9, 10);
    proxy.release();
    expect(await Promise.all(adding)).toEqual(upTo(MAX_BATCHES_IN_FLIGHT * 9));
  });

  it('grows where a connection takes longer to open than a call may take', async () => {
    const counters = await connectFar(FAR_MS, { size: 2 }, 300);
    proxy.release();
    proxy.behaviour.answerDelayMs = 200;
    const adding = addMany(counters, freshKey(), MAX_BATCHES_IN_FLIGHT);
    await eventually(() => {
      expect((counters.statistics.get('pool.cx_active') as () => number)()).toBe(2);
    });
    await Promise.all(adding);
  });

  it.each([[1], [3]])('of %i: sends no more than that takes, the others wait', async (size) => {
    const counters = await connectFar(FAR_MS, { size });
    const key = freshKey();
    const most = MAX_BATCHES_IN_FLIGHT * size;
    const adding = addMany(counters, key, most + 40);
    await untilItHasCount(key, most, size);
    proxy.release();
    expect(await Promise.all(adding)).toEqual(upTo(most + 40));
  });

  it('of one, CREATE: sends no more while one beyond the size is being opened', async () => {
    const counters = await connectFar(FAR_MS, { size: 1, onEmpty: 'create' });
    const key = freshKey();
    const adding = addMany(counters, key, MAX_BATCHES_IN_FLIGHT * 2 + 8);
    await untilItHasCount(key, MAX_BATCHES_IN_FLIGHT, 2);
    answerOnce();
    await untilItHasCount(key, MAX_BATCHES_IN_FLIGHT * 2, 2);
    proxy.release();
    expect(await Promise.all(adding)).toEqual(upTo(MAX_BATCHES_IN_FLIGHT * 2 + 8));
  });

  it.each([
    ['far away', FAR_MS],
    ['near', 1],
  ])('sends a server %s that hangs no more than one connection carries', async (_, roundTripMs) => {
    const counters = await connectFar(roundTripMs, {});
    const key = freshKey();
    const first = addMany(counters, key, MAX_BATCHES_IN_FLIGHT);
    nowMs += roundTripMs * 2 + 1;
    const others = addMany(counters, key, MAX_BATCHES_IN_FLIGHT);
    await untilItHasCount(key, MAX_BATCHES_IN_FLIGHT, 2);
    proxy.release();
    expect(await Promise.all([...first, ...others])).toEqual(upTo(MAX_BATCHES_IN_FLIGHT * 2));
  });

  it('that can grow again lets nobody past those who wait', async () => {
    const counters = await connectFar(PAUSE_AFTER_FAILURE_MS, { size: 2 });
    const key = freshKey();
    proxy.behaviour.closeOn = /ping/i;
    const full = addMany(counters, key, MAX_BATCHES_IN_FLIGHT * 3 + 8);
    await eventually(() => {
      expect(counters.kinds()).toContain('pool-not-grown');
    });
    await untilItHasCount(key, MAX_BATCHES_IN_FLIGHT * 2, 2);
    answerOnce();
    await untilItHasCount(key, MAX_BATCHES_IN_FLIGHT * 3, 2);
    proxy.behaviour.closeOn = undefined;
    nowMs += PAUSE_AFTER_FAILURE_MS;
    const late = addMany(counters, key, 1);
    proxy.release();
    expect(await Promise.all([...full, ...late])).toEqual(upTo(MAX_BATCHES_IN_FLIGHT * 3 + 9));
  });
});
