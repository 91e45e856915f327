import { combineLatest, map, merge, of } from 'rxjs';
import type { CounterStore } from '../../src/app/store/store';
import {
  memcachedReader,
  memoryReader,
  redisReader,
  splitReader,
} from '../../src/app/store/counter-readers';
import { createMemcachedCounters } from '../../src/counters/memcached/create-memcached-counters';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { createPerSecondSplit } from '../../src/counters/per-second-split';
import { createRedisCounters } from '../../src/counters/redis/create-redis-counters';
import { eventually } from '../support/edge/eventually';
import { startMemcachedServer } from '../support/edge/memcached-server';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import type { Registry } from '../../src/stats/registry';
import { readRedis, type Counts } from './counts';
import { replay } from './replay';
import { startReplay } from './replayer';
import { expectScrape, scrapeSettings } from './scrape';
import { expectNames, expectWire, startStatsdServer, statsdSettings } from './wire';
import { isOfMemcached, isSplit, readScenarios, type Scenario } from './scenario';
import { WAITING, waitsFor } from './waiting';

const scenarios = readScenarios();
const built = scenarios.filter(([, scenario]) => waitsFor(scenario) === undefined);
const ready = built.filter(([, scenario]) => !isOfMemcached(scenario));

it('names every vector that waits for a later feature, and no other', () => {
  const waiting = scenarios.filter(([, scenario]) => waitsFor(scenario) !== undefined);
  expect(waiting.map(([title]) => title)).toEqual(WAITING);
});

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
    const servers = isSplit(scenario) ? [server, perSecondServer] : [server];
    await Promise.all(servers.map(({ client }) => client.flushall()));
    const statsd = await startStatsdServer();
    const scrape = await scrapeSettings(scenario);
    const replayer = await startReplay(
      scenario,
      (registry) =>
        Promise.resolve(
          isSplit(scenario)
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

/** The recordings leave the addresses to whoever replays; these are never connected to. */
function splitSettings(scenario: Scenario): Readonly<Record<string, string>> {
  return isSplit(scenario) ? { REDIS_URL: 'elsewhere:1', REDIS_PERSECOND_URL: 'elsewhere:2' } : {};
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
