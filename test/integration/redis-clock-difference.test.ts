import { batch, freshKey, increment } from '../contract/counters.contract';
import { ask, slowRule } from '../support/algorithm-increments';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import type { Increment } from '../../src/core/ports';
import { eventually } from '../support/edge/eventually';
import { startRedisClock } from '../support/redis-clock';
import {
  connectRedisCounters,
  runRedisCounters,
  stopRedisCounters,
} from '../support/edge/redis-counters';
import { startRedisCluster } from '../support/edge/redis-cluster';
import { startRedisServer } from '../support/edge/redis-server';

const DIFFERENCE = 'ratelimit.redis_pool.clock_difference_seconds';
const MENDED = 'ratelimit.redis_pool.counters_mended';
const DAY_SECONDS = 86_400;

const DAILY = budgetLimiterOf({
  entries: [budgetEntry({ sort: 'gcra', limit: 10, periodSeconds: 86_400 })],
});
const kinds: [string, (key: string) => Increment][] = [
  ['gcra', (key) => ask(slowRule('gcra'), key)],
  ['sliding_window', (key) => ask(slowRule('sliding_window'), key)],
  ['a budget', (key) => increment(`${key}~r`, 1, { limiter: DAILY, limit: 10 })],
];

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  for (const end of ends.splice(0)) await end();
});

const systemSeconds = () => Date.now() / 1_000;

/** Counters on a Redis whose clock is so many seconds ahead of theirs. */
async function started(aheadSeconds: number, options = {}) {
  const server = await startRedisServer();
  ends.unshift(() => server.stop());
  const time = { aheadSeconds };
  const proxy = await startRedisClock(server.port, () => systemSeconds() + time.aheadSeconds);
  ends.unshift(() => proxy.close());
  const address = { kind: 'tcp', host: '127.0.0.1', port: proxy.port } as const;
  const counters = await connectRedisCounters({ address, ...options }, { clock: systemSeconds });
  const difference = () => {
    const gauge = counters.statistics.get(DIFFERENCE);
    return typeof gauge === 'function' ? gauge() : undefined;
  };
  const clockEvents = () => counters.kinds().filter((kind) => kind.startsWith('clock-'));
  return { server, time, counters, difference, clockEvents };
}

it('a store that only counts is asked for its time when it is connected, and no more by batches', async () => {
  const { server, counters, difference, clockEvents } = await started(60);
  await eventually(() => {
    expect(difference()).toBeCloseTo(60, 0);
  });
  expect(clockEvents()).toEqual(['clock-differs']);
  await server.client.config('RESETSTAT');
  await counters.add(batch([increment(freshKey())]));
  expect(await server.client.info('commandstats')).not.toMatch(/cmdstat_(?:time|eval):/);
});

describe.each(kinds)('batches of %s', (_, askOf) => {
  it('tell when the clock of the store goes wrong and right; those of plain rules do not', async () => {
    const { time, counters, difference, clockEvents } = await started(0);
    await counters.add(batch([askOf(freshKey())]));
    expect(difference()).toBe(0);
    time.aheadSeconds = -30;
    await counters.add(batch([increment(freshKey())]));
    expect(difference()).toBe(0);
    await counters.add(batch([askOf(freshKey())]));
    expect(difference()).toBeCloseTo(30, 0);
    time.aheadSeconds = 0;
    await counters.add(batch([askOf(freshKey())]));
    expect(difference()).toBe(0);
    expect(clockEvents()).toEqual(['clock-differs', 'clock-agrees']);
  });

  it('count each counter that a wrong clock had written as mended, once', async () => {
    const { time, counters } = await started(40_000 * DAY_SECONDS);
    const keys = [freshKey(), freshKey()];
    const add = () => counters.add(batch([increment(freshKey()), ...keys.map(askOf)]));
    await add();
    expect(counters.statistics.get(MENDED)).toBe(0);
    time.aheadSeconds = 0;
    await add();
    expect(counters.statistics.get(MENDED)).toBe(2);
    await add();
    expect(counters.statistics.get(MENDED)).toBe(2);
  });
});

it('a store whose access list forbids TIME counts plain rules, and nothing is said of its clock', async () => {
  const server = await startRedisServer();
  ends.unshift(() => server.stop());
  await server.client.call('ACL', 'SETUSER', 'default', '-time');
  const { address } = server;
  const counters = await connectRedisCounters({ address }, { clock: () => systemSeconds() + 60 });
  await eventually(async () => {
    expect(await server.client.call('ACL', 'LOG')).toHaveLength(1);
  });
  const key = freshKey();
  await counters.add(batch([increment(key)]));
  const { after } = await counters.add(batch([increment(key)]));
  expect(after).toEqual([2]);
  expect(counters.kinds()).toEqual(['connected']);
});

it('of the nodes of a cluster the gauge shows the one whose clock is farthest, and the log names each', async () => {
  const cluster = await startRedisCluster();
  ends.unshift(() => cluster.stop());
  const { address } = cluster;
  const counters = runRedisCounters({ address }, { clock: () => systemSeconds() - 60 });
  const difference = () => (counters.statistics.get(DIFFERENCE) as () => number)();
  await eventually(() => {
    expect(difference()).toBeCloseTo(60, 0);
    const astray = counters.events.filter(({ kind }) => kind === 'clock-differs');
    const stores = astray.map(({ store }) => store);
    expect(stores).toHaveLength(cluster.masters.length);
    expect(new Set(stores).size).toBe(stores.length);
  });
});

it('a store without scripts is not asked, and its gauge ends with its counters', async () => {
  const { server, counters, difference } = await started(60, { scripts: false });
  await counters.add(batch([increment(freshKey())]));
  expect(difference()).toBe(0);
  expect(await server.client.info('commandstats')).not.toMatch(/cmdstat_(?:time|eval):/);
  await counters.stop();
  expect(difference()).toBeUndefined();
});
