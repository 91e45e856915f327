import { openMemcachedStore } from '../../src/app/store/memcached-store';
import { openMemoryStore } from '../../src/app/store/memory-store';
import { chooseCounters } from '../../src/app/store/store';
import { untilAdded } from '../support/memcached-counters';
import {
  describeWithStores,
  nearMemcached,
  nearRedis,
  type NearRedis,
} from '../support/near-stores';
import type { MemstoreSettings } from '../../src/settings/memstore';
import type { Settings } from '../../src/settings/settings';
import { readRedis, type Counts } from './counts';
import { replay } from './replay';
import { startReplay, type StoreDeps } from './replayer';
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
    const makeStore = (settings: Settings, deps: StoreDeps) => {
      const { clock } = deps;
      const backend = openMemoryStore(settings.memory, deps);
      read = () =>
        new Map(
          [...backend.servers.client.entries(clock())].map(([key, { value, ttlSeconds }]) => [
            key,
            { value: String(value), ttlSeconds },
          ]),
        );
      return chooseCounters(settings, deps, () => backend);
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
    const addresses = {
      REDIS_URL: urlOf(server),
      ...(isSplit(scenario) && { REDIS_PERSECOND_URL: urlOf(perSecondServer) }),
    };
    await server.client.flushall();
    const statsd = await startStatsdServer();
    const scrape = await scrapeSettings(scenario);
    const replayer = await startReplay(scenario, chooseCounters, {
      ...statsdSettings(scenario, statsd),
      ...scrape,
      ...addresses,
    });
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

const urlOf = ({ port, database }: NearRedis) =>
  `redis://127.0.0.1:${String(port)}/${String(database)}`;

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
      (settings, deps) =>
        chooseCounters(settings, deps, (_, backendDeps) => {
          const backend = openMemcachedStore(settings.memstore as MemstoreSettings, backendDeps);
          settle = () => untilAdded(backend.servers.client, keys[0] ?? '');
          return backend;
        }),
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
