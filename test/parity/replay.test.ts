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
import { untilAdded } from '../support/memcached-counters';
import {
  describeWithStores,
  nearMemcached,
  nearRedis,
  type NearRedis,
} from '../support/near-stores';
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

/** Where the clocks of the stores stand: the recordings say how long a counter lives, not until when. */
const STORE_CLOCK = 1_798_761_600;

describeWithStores('with counters in Redis', () => {
  let server: NearRedis;
  let perSecondServer: NearRedis;
  beforeAll(async () => {
    [server, perSecondServer] = [await nearRedis(STORE_CLOCK), await nearRedis(STORE_CLOCK, 1)];
  });
  afterAll(() => Promise.all([server.client.quit(), perSecondServer.client.quit()]));

  it.each(ready)('%s', async (_, scenario) => {
    const servers = isSplit(scenario) ? [server, perSecondServer] : [server];
    await server.client.flushall();
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
    await statsd.untilPasses((lines) => {
      expectWire(scenario, lines);
    });
    await statsd.close();
  });
});

/** The recordings leave the addresses to whoever replays; these are never connected to. */
function splitSettings(scenario: Scenario): Readonly<Record<string, string>> {
  return isSplit(scenario) ? { REDIS_URL: 'elsewhere:1', REDIS_PERSECOND_URL: 'elsewhere:2' } : {};
}

describeWithStores('with counters in memcached', () => {
  it.each(built.filter(([, scenario]) => isOfMemcached(scenario)))('%s', async (_, scenario) => {
    const server = await nearMemcached(STORE_CLOCK);
    const keys = [...new Set(scenario.steps.flatMap((step) => Object.keys(step.keys)))];
    const statsd = await startStatsdServer();
    let settle = () => Promise.resolve();
    const replayer = await startReplay(
      scenario,
      (registry) => {
        const counters = createMemcachedCounters(
          { monotonicMs: () => 0, random: () => 0.5, statistics: registry },
          { nodes: { kind: 'list', addresses: [server.address] }, timeoutMs: 5_000 },
        );
        settle = () => untilAdded(counters, keys[0] ?? '');
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
        await settle();
        return [await server.entries(keys)];
      },
      () => expectNames(scenario, statsd),
    );
    await statsd.untilPasses((lines) => {
      expectWire(scenario, lines);
    });
    await statsd.close();
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

function redisStore(
  { address, database }: NearRedis,
  registry: Registry,
  statisticsPrefix: string,
) {
  const counters = createRedisCounters(
    { monotonicMs: () => 0, random: () => 0.5, statistics: registry },
    { address, database, timeoutMs: 5_000, statisticsPrefix },
  );
  const { connected$, run$ } = counters;
  const whyAway = () => undefined;
  const reader = redisReader(counters);
  const connections = new Map();
  const writer = UNUSED_WRITER;
  return { counters, reader, writer, connected$, connections, run$, whyAway, description: 'redis' };
}

function splitStore(server: NearRedis, perSecondServer: NearRedis, registry: Registry) {
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
