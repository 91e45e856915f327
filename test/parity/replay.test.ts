import { of } from 'rxjs';
import type { CounterStore } from '../../src/app/choose-counters';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { createRedisCounters } from '../../src/counters/redis/create-redis-counters';
import { startRedisServer, type RedisServer } from '../support/redis-server';
import type { Registry } from '../../src/stats/registry';
import { startReplay, type Replayer } from './replayer';
import { expectNames, expectWire, startStatsdServer, statsdSettings } from './wire';
import { readScenarios, type Scenario, type Step } from './scenario';
import { WAITING, waitsFor } from './waiting';

const scenarios = readScenarios();
const ready = scenarios.filter(([, scenario]) => waitsFor(scenario) === undefined);

it('names every vector that waits for a later feature, and no other', () => {
  const waiting = scenarios.filter(([, scenario]) => waitsFor(scenario) !== undefined);
  expect(waiting.map(([title]) => title)).toEqual(WAITING);
});

type Counts = ReadonlyMap<string, { readonly value: string; readonly ttlSeconds: number }>;

describe('with counters in memory', () => {
  it.each(ready)('%s', async (_, scenario) => {
    let read: () => Counts = () => new Map();
    const replayer = await startReplay(scenario, (_registry, clock) => {
      const counters = createMemoryCounters({ clock });
      read = () =>
        new Map(
          [...counters.entries(clock())].map(([key, { value, ttlSeconds }]) => [
            key,
            { value: String(value), ttlSeconds },
          ]),
        );
      return Promise.resolve(memoryStore(counters));
    });
    await replay(scenario, replayer, () => Promise.resolve(read()));
  });
});

describe('with counters in Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  it.each(ready)('%s', async (_, scenario) => {
    await server.client.flushall();
    const statsd = await startStatsdServer();
    const replayer = await startReplay(
      scenario,
      (registry) => redisStore(server, registry),
      statsdSettings(scenario, statsd),
    );
    await replay(
      scenario,
      replayer,
      () => readRedis(server),
      () => expectNames(scenario, statsd),
    );
    expectWire(scenario, statsd.lines());
    await statsd.close();
  });
});

/** Performs every step and compares the answer, the keys that changed and the statistics at the end. */
async function replay(
  { steps, stats, statsIgnore = [] }: Scenario,
  replayer: Replayer,
  read: () => Promise<Counts>,
  beforeClose: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  let before: Counts = new Map();
  for (const [index, step] of steps.entries()) {
    replayer.setClock(step.at);
    const answer = await replayer.perform(step);
    const after = await read();
    expect({ index, ...answerOf(answer, step) }).toEqual({ index, ...answerOf(step, step) });
    expect({ index, keys: changedValues(before, after) }).toEqual({ index, keys: step.keys });
    for (const [key, [least, most]] of Object.entries(step.ttl)) expectTtl(after, key, least, most);
    before = after;
  }
  await beforeClose();
  await replayer.close();
  if (stats === undefined) return;
  const isCompared = (name: string) =>
    /^ratelimit(\.service|_server)\./.test(name) &&
    !statsIgnore.some((prefix) => name.startsWith(prefix));
  const counted = [...replayer.registry.counters]
    .filter(([name, { value }]) => value !== 0 && isCompared(name) && !isOurOwn(name))
    .map(([name, { value }]) => [name, value] as const);
  expect(Object.fromEntries(counted)).toEqual(
    Object.fromEntries(Object.entries(stats).filter(([name]) => isCompared(name))),
  );
}

/** Unlimited rules count on purpose where the reference counts nothing (choices §5). */
function isOurOwn(name: string): boolean {
  return /\.rate_limit\.(u\.free|u\.free2_vip|u\.freeze\.who_staff)\.[a-z_]+$/.test(name);
}

const ANSWER = ['response', 'error', 'status', 'contentType', 'body', 'lines', 'loads'] as const;

/** The parts of an answer that the recording fixes. */
function answerOf(answer: Partial<Step>, { loose = [] }: Step): Partial<Step> {
  const fixed = ANSWER.filter((part) => answer[part] !== undefined && !loose.includes(part));
  return Object.fromEntries(
    fixed.map((part) => [part, part === 'contentType' ? mediaType(answer[part]) : answer[part]]),
  );
}

function mediaType(contentType = ''): string {
  return contentType.split(';')[0] ?? '';
}

function changedValues(before: Counts, after: Counts): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const [key, { value }] of after) if (before.get(key)?.value !== value) changed[key] = value;
  return changed;
}

function expectTtl(counts: Counts, key: string, least: number, most: number): void {
  const ttlSeconds = Math.floor(counts.get(key)?.ttlSeconds ?? NaN);
  expect(ttlSeconds).toBeGreaterThanOrEqual(least - 2);
  expect(ttlSeconds).toBeLessThanOrEqual(most);
}

function memoryStore(counters: CounterStore['counters']): CounterStore {
  return { counters, connected$: of(true), run$: of(), description: 'memory' };
}

function redisStore({ address }: RedisServer, registry: Registry): Promise<CounterStore> {
  const counters = createRedisCounters(
    { monotonicMs: () => performance.now(), random: Math.random, statistics: registry },
    { address, timeoutMs: 5_000, statisticsPrefix: 'ratelimit.redis_pool' },
  );
  const { connected$, run$ } = counters;
  return Promise.resolve({ counters, connected$, run$, description: 'redis' });
}

async function readRedis({ client }: RedisServer): Promise<Counts> {
  const keys = await client.keys('*');
  const rows = await Promise.all(
    keys.map(async (key) => {
      const [value, ttlSeconds] = await Promise.all([client.get(key), client.ttl(key)]);
      return [key, { value: value ?? '', ttlSeconds }] as const;
    }),
  );
  return new Map(rows);
}
