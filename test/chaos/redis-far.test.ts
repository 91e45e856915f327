import {
  MAX_BATCHES_IN_FLIGHT,
  PAUSE_AFTER_FAILURE_MS,
} from '../../src/counters/redis/connections';
import type { PoolOptions } from '../../src/counters/redis/options';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { eventually } from '../support/edge/eventually';
import {
  runRedisCounters,
  stopRedisCounters,
  type RunningRedisCounters,
} from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';

const FAR_MS = 150;

let server: RedisServer;
let proxy: TcpProxy;
let nowMs: number;
beforeEach(async () => {
  server = await startRedisServer();
  proxy = await startTcpProxy(server.port);
  nowMs = 0;
});
afterEach(async () => {
  proxy.release();
  await stopRedisCounters();
  await proxy.close();
  await server.stop();
});

/** Counters whose clock says that answers take so long while they connect, and stands still then. Later answers are held. */
async function connect(
  roundTripMs: number,
  pool: Partial<PoolOptions>,
  timeoutMs = 60_000,
): Promise<RunningRedisCounters> {
  let stepMs = roundTripMs;
  const counters = runRedisCounters(
    {
      address: { kind: 'tcp', host: '127.0.0.1', port: proxy.port },
      statisticsPrefix: 'pool',
      pool: { size: 10, onEmpty: 'wait', onEmptyWaitMs: 0, ...pool },
      timeoutMs,
    },
    { monotonicMs: () => (nowMs += stepMs) },
  );
  await counters.untilConnected();
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
    const counters = await connect(FAR_MS, {});
    const key = freshKey();
    const adding = addMany(counters, key, MAX_BATCHES_IN_FLIGHT * 9);
    await untilItHasCount(key, MAX_BATCHES_IN_FLIGHT * 9, 10);
    proxy.release();
    expect(await Promise.all(adding)).toEqual(upTo(MAX_BATCHES_IN_FLIGHT * 9));
  });

  it('grows where a connection takes longer to open than a call may take', async () => {
    const counters = await connect(FAR_MS, { size: 2 }, 300);
    proxy.release();
    proxy.behaviour.answerDelayMs = 200;
    const adding = addMany(counters, freshKey(), MAX_BATCHES_IN_FLIGHT);
    await eventually(() => {
      expect((counters.statistics.get('pool.cx_active') as () => number)()).toBe(2);
    });
    await Promise.all(adding);
  });

  it.each([[1], [3]])('of %i: sends no more than that takes, the others wait', async (size) => {
    const counters = await connect(FAR_MS, { size });
    const key = freshKey();
    const most = MAX_BATCHES_IN_FLIGHT * size;
    const adding = addMany(counters, key, most + 40);
    await untilItHasCount(key, most, size);
    proxy.release();
    expect(await Promise.all(adding)).toEqual(upTo(most + 40));
  });

  it('of one, CREATE: sends no more while one beyond the size is being opened', async () => {
    const counters = await connect(FAR_MS, { size: 1, onEmpty: 'create' });
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
    const counters = await connect(roundTripMs, {});
    const key = freshKey();
    const first = addMany(counters, key, MAX_BATCHES_IN_FLIGHT);
    nowMs += roundTripMs * 2 + 1;
    const others = addMany(counters, key, MAX_BATCHES_IN_FLIGHT);
    await untilItHasCount(key, MAX_BATCHES_IN_FLIGHT, 2);
    proxy.release();
    expect(await Promise.all([...first, ...others])).toEqual(upTo(MAX_BATCHES_IN_FLIGHT * 2));
  });

  it('that can grow again lets nobody past those who wait', async () => {
    const counters = await connect(PAUSE_AFTER_FAILURE_MS, { size: 2 });
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
