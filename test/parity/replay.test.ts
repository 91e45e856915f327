import { combineLatest, map, merge, of } from 'rxjs';
import type { CounterStore } from '../../src/app/actors/store';
import {
  memcachedReader,
  memoryReader,
  redisReader,
  splitReader,
} from '../../src/app/counter-readers';
import { createMemcachedCounters } from '../../src/counters/memcached/create-memcached-counters';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { createPerSecondSplit } from '../../src/counters/per-second-split';
import { createRedisCounters } from '../../src/counters/redis/create-redis-counters';
import { eventually } from '../support/eventually';
import { startMemcachedServer } from '../support/memcached-server';
import { startRedisServer, type RedisServer } from '../support/redis-server';
import type { Registry } from '../../src/stats/registry';
import { expectAgreement } from './explained';
import { startReplay, type Replayer } from './replayer';
import { expectScrape, scrapeSettings } from './scrape';
import { expectNames, expectWire, startStatsdServer, statsdSettings } from './wire';
import { readScenarios, type Scenario, type Step } from './scenario';
import { WAITING, waitsFor } from './waiting';

const scenarios = readScenarios();
const built = scenarios.filter(([, scenario]) => waitsFor(scenario) === undefined);
const isOfMemcached = ({ settings }: Scenario) => settings['BACKEND_TYPE'] === 'memcache';
const ready = built.filter(([, scenario]) => !isOfMemcached(scenario));

it('names every vector that waits for a later feature, and no other', () => {
  const waiting = scenarios.filter(([, scenario]) => waitsFor(scenario) !== undefined);
  expect(waiting.map(([title]) => title)).toEqual(WAITING);
});

interface Count {
  readonly value: string;
  readonly ttlSeconds: number;
  /** Unix milliseconds at which its time to live ends, in Redis. */
  readonly endMs?: number;
}
type Counts = ReadonlyMap<string, Count>;

describe('with counters in memory', () => {
  it.each(ready)('%s', async (_, scenario) => {
    let read: () => Counts = () => new Map();
    const makeStore = (_registry: Registry, clock: () => number) => {
      const counters = createMemoryCounters({ clock });
      read = () =>
        new Map(
          [...counters.entries(clock())].map(([key, { value, ttlSeconds }]) => [
            key,
            { value: String(value), ttlSeconds },
          ]),
        );
      return Promise.resolve(memoryStore(counters, memoryReader(counters, clock)));
    };
    const replayer = await startReplay(scenario, makeStore, splitSettings(scenario));
    await replay(scenario, replayer, () => Promise.resolve([read()]));
  });
});

describe('with counters in Redis', () => {
  let server: RedisServer;
  let perSecondServer: RedisServer;
  beforeAll(async () => {
    [server, perSecondServer] = await Promise.all([startRedisServer(), startRedisServer()]);
  });
  afterAll(() => Promise.all([server.stop(), perSecondServer.stop()]));

  it.each(ready)('%s', async (_, scenario) => {
    const isSplit = isSplitIn(scenario);
    const servers = isSplit ? [server, perSecondServer] : [server];
    await Promise.all(servers.map(({ client }) => client.flushall()));
    const statsd = await startStatsdServer();
    const scrape = await scrapeSettings(scenario);
    const replayer = await startReplay(
      scenario,
      (registry) =>
        Promise.resolve(
          isSplit
            ? splitStore(server, perSecondServer, registry)
            : redisStore(server, registry, 'ratelimit.redis_pool'),
        ),
      { ...statsdSettings(scenario, statsd), ...scrape, ...splitSettings(scenario) },
    );
    await replay(
      scenario,
      replayer,
      () => Promise.all(servers.map(readRedis)),
      async () => {
        await expectNames(scenario, statsd);
        await expectScrape(scenario, scrape);
      },
    );
    await eventually(() => {
      expectWire(scenario, statsd.lines());
    });
    await statsd.close();
  });
});

function isSplitIn({ settings }: Scenario): boolean {
  return settings['REDIS_PERSECOND'] === 'true';
}

/** The recordings leave the addresses to whoever replays; these are never connected to. */
function splitSettings(scenario: Scenario): Readonly<Record<string, string>> {
  return isSplitIn(scenario)
    ? { REDIS_URL: 'elsewhere:1', REDIS_PERSECOND_URL: 'elsewhere:2' }
    : {};
}

describe('with counters in memcached', () => {
  it.each(built.filter(([, scenario]) => isOfMemcached(scenario)))('%s', async (_, scenario) => {
    const server = await startMemcachedServer();
    const keys = [...new Set(scenario.steps.flatMap((step) => Object.keys(step.keys)))];
    const statsd = await startStatsdServer();
    let pendingKeys = () => 0;
    const replayer = await startReplay(
      scenario,
      (registry) => {
        const counters = createMemcachedCounters(
          { monotonicMs: () => performance.now(), random: Math.random, statistics: registry },
          { nodes: { kind: 'list', addresses: [server.address] }, timeoutMs: 5_000 },
        );
        pendingKeys = () => counters.pendingKeys;
        const { connected$, run$ } = counters;
        const connections = new Map([['store', connected$]]);
        return Promise.resolve({
          counters,
          reader: memcachedReader(counters),
          writer: UNUSED_WRITER,
          connected$,
          connections,
          whyAway: () => undefined,
          run$,
          description: 'memcached',
        });
      },
      {
        MEMCACHE_HOST_PORT: `127.0.0.1:${String(server.port)}`,
        ...statsdSettings(scenario, statsd),
      },
    );
    await replay(
      scenario,
      replayer,
      async () => {
        await eventually(() => {
          expect(pendingKeys()).toBe(0);
        });
        return [await server.entries(keys)];
      },
      () => expectNames(scenario, statsd),
    );
    await eventually(() => {
      expectWire(scenario, statsd.lines());
    });
    await Promise.all([statsd.close(), server.stop()]);
  });
});

/** Counters with their end, where the store says it: the seconds to it pass between two looks. */
function toLasting(stores: readonly Counts[]) {
  return stores.map((counts) =>
    [...counts].map(([key, { value, ttlSeconds, endMs }]) => [key, value, endMs ?? ttlSeconds]),
  );
}

/** Performs every step and compares the answer, the keys that changed and the statistics at the end. */
async function replay(
  { steps, stats, statsIgnore = [] }: Scenario,
  replayer: Replayer,
  read: () => Promise<readonly Counts[]>,
  beforeClose: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  let before: readonly Counts[] = [];
  for (const [index, step] of steps.entries()) {
    replayer.setClock(step.at);
    const unexplained = toLasting(await read());
    const explained = await replayer.explain(step);
    expect({ index, store: toLasting(await read()) }).toEqual({ index, store: unexplained });
    const answer = await replayer.perform(step);
    if (explained !== undefined) expectAgreement(explained, answer, index);
    const after = await read();
    expect({ index, ...answerOf(answer, step) }).toEqual({ index, ...answerOf(step, step) });
    const changes = after.map((counts, store) => changedValues(before[store], counts));
    expect({ index, changes }).toEqual({ index, changes: expectedChanges(step, after.length) });
    const all = new Map(after.flatMap((counts) => [...counts]));
    for (const [key, [least, most]] of Object.entries(step.ttl)) expectTtl(all, key, least, most);
    before = after;
  }
  await beforeClose();
  await replayer.close();
  if (stats === undefined) return;
  const isCompared = (name: string) =>
    /^ratelimit(\.service|_server)\./.test(name) &&
    !statsIgnore.some((prefix) => name.startsWith(prefix));
  const counted = [...replayer.registry.readCounters()]
    .filter(([name, { value }]) => value !== 0 && isCompared(name) && !isOurOwn(name))
    .map(([name, { value }]) => [name, value] as const);
  expect(Object.fromEntries(counted)).toEqual(
    Object.fromEntries(Object.entries(stats).filter(([name]) => isCompared(name))),
  );
}

/** Unlimited rules count on purpose where the reference counts nothing (behaviour.md §6.1). */
function isOurOwn(name: string): boolean {
  return /\.rate_limit\.(u\.free|u\.free2_vip|u\.freeze\.who_staff)\.[a-z_]+$/.test(name);
}

const ANSWER = ['response', 'error', 'status', 'contentType', 'body', 'lines', 'loads'] as const;

/** The parts of an answer that the recording fixes. */
function answerOf(answer: Partial<Step>, { loose = [] }: Step): Partial<Step> {
  const fixed = ANSWER.filter((part) => answer[part] !== undefined && !loose.includes(part));
  return Object.fromEntries(
    fixed.map((part) => [
      part,
      part === 'contentType' ? mediaType(answer[part]) : withoutWelcome(answer[part]),
    ]),
  );
}

const WELCOME: ReadonlySet<string> = new Set(['limitedBy', 'limitedByName']);

/** What answers of ours have besides: the rule that decided, in the metadata. */
function withoutWelcome(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, part: unknown) => (WELCOME.has(name) ? undefined : part)),
  ) as unknown;
}

function mediaType(contentType = ''): string {
  return contentType.split(';')[0] ?? '';
}

/** A single store holds what the recording has in two. */
function expectedChanges({ keys, perSecondKeys }: Step, stores: number): readonly object[] {
  return stores === 1 ? [{ ...keys, ...perSecondKeys }] : [keys, perSecondKeys ?? {}];
}

function changedValues(before: Counts | undefined, after: Counts): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const [key, { value }] of after) if (before?.get(key)?.value !== value) changed[key] = value;
  return changed;
}

function expectTtl(counts: Counts, key: string, least: number, most: number): void {
  const ttlSeconds = Math.floor(counts.get(key)?.ttlSeconds ?? NaN);
  expect(ttlSeconds).toBeGreaterThanOrEqual(least - 2);
  expect(ttlSeconds).toBeLessThanOrEqual(most);
}

/** No replay changes a counter but by decisions. */
const UNUSED_WRITER: CounterStore['writer'] = {
  remove: () => Promise.resolve([]),
  set: () => Promise.resolve([]),
};

function memoryStore(
  counters: CounterStore['counters'],
  reader: CounterStore['reader'],
): CounterStore {
  return {
    counters,
    reader,
    writer: UNUSED_WRITER,
    connected$: of(true),
    connections: new Map(),
    whyAway: () => undefined,
    run$: of(),
    description: 'memory',
  };
}

function redisStore({ address }: RedisServer, registry: Registry, statisticsPrefix: string) {
  const counters = createRedisCounters(
    { monotonicMs: () => performance.now(), random: Math.random, statistics: registry },
    { address, timeoutMs: 5_000, statisticsPrefix },
  );
  const { connected$, run$ } = counters;
  const whyAway = () => undefined;
  const reader = redisReader(counters);
  const connections = new Map();
  const writer = UNUSED_WRITER;
  return { counters, reader, writer, connected$, connections, run$, whyAway, description: 'redis' };
}

function splitStore(server: RedisServer, perSecondServer: RedisServer, registry: Registry) {
  const others = redisStore(server, registry, 'ratelimit.redis_pool');
  const perSecond = redisStore(perSecondServer, registry, 'ratelimit.redis_per_second_pool');
  return {
    counters: createPerSecondSplit({
      perSecond: perSecond.counters,
      others: others.counters,
      onNotAtomic: () => undefined,
    }),
    reader: splitReader(perSecond.reader, others.reader),
    writer: UNUSED_WRITER,
    connected$: combineLatest([others.connected$, perSecond.connected$]).pipe(
      map((areConnected) => !areConnected.includes(false)),
    ),
    connections: new Map(),
    whyAway: () => undefined,
    run$: merge(others.run$, perSecond.run$),
    description: 'two of redis',
  };
}

async function readRedis({ client }: RedisServer): Promise<Counts> {
  const keys = await client.keys('*');
  const rows = await Promise.all(
    keys.map(async (key) => {
      const [value, ttlSeconds, endMs] = await Promise.all([
        client.get(key),
        client.ttl(key),
        client.pexpiretime(key),
      ]);
      return [key, { value: value ?? '', ttlSeconds, endMs }] as const;
    }),
  );
  return new Map(rows);
}
