import { eventually } from '../support/edge/eventually';
import { startMemcachedServer } from '../support/edge/memcached-server';
import { startRedisServer } from '../support/edge/redis-server';
import { stopServices } from '../support/edge/service';
import { readRedis, type Counts } from '../parity/counts';
import { replay, type Replayable } from '../parity/replay';
import { isOfMemcached, isSplit, readScenarios, type Scenario } from '../parity/scenario';
import { expectScrape, scrapeSettings } from '../parity/scrape';
import { startServiceReplay } from './service-replayer';
import { waitsFor } from '../parity/waiting';
import {
  expectNames,
  expectWire,
  startStatsdServer,
  statsdSettings,
  type StatsdServer,
} from '../parity/wire';

const built = readScenarios().filter(([, scenario]) => waitsFor(scenario) === undefined);

afterAll(stopServices);

/** Statistics that only a service of several workers has. */
const OF_WORKERS = ['workers'];

// Several at once: each has servers of its own, and mostly waits for processes to start and to end.
it.concurrent.each(built)('%s', async (_, scenario) => {
  const stores = isOfMemcached(scenario) ? await inMemcached(scenario) : await inRedis(scenario);
  const statsd = await startStatsdServer();
  try {
    await replayOn(scenario, stores, statsd);
  } finally {
    await Promise.all([statsd.close(), stores.stop()]);
  }
});

async function replayOn(scenario: Scenario, stores: Stores, statsd: StatsdServer): Promise<void> {
  const scrape = await scrapeSettings(scenario);
  const replayer = await startServiceReplay(scenario, {
    ...stores.settings,
    ...statsdSettings(scenario, statsd),
    ...scrape,
  });
  const read = () => stores.read(replayer.counted);
  await replay(scenario, replayer, read, async () => {
    await expectNames(scenario, statsd);
    await expectScrape(scenario, scrape);
  });
  await eventually(() => {
    expectWire(scenario, statsd.lines(), OF_WORKERS);
  });
}

/** The servers that a scenario counts in. */
interface Stores {
  readonly settings: Readonly<Record<string, string>>;
  read(counted: Replayable['counted']): Promise<readonly Counts[]>;
  stop(): Promise<unknown>;
}

async function inRedis(scenario: Scenario): Promise<Stores> {
  const servers = await Promise.all(
    (isSplit(scenario) ? [0, 1] : [0]).map(() => startRedisServer()),
  );
  const [url = '', perSecondUrl] = servers.map(({ port }) => `127.0.0.1:${String(port)}`);
  return {
    settings: {
      REDIS_URL: url,
      ...(perSecondUrl !== undefined && { REDIS_PERSECOND_URL: perSecondUrl }),
    },
    read: () => Promise.all(servers.map(readRedis)),
    stop: () => Promise.all(servers.map((server) => server.stop())),
  };
}

async function inMemcached({ steps }: Scenario): Promise<Stores> {
  const server = await startMemcachedServer();
  const keys = [...new Set(steps.flatMap((step) => Object.keys(step.keys)))];
  return {
    settings: { MEMCACHE_HOST_PORT: `127.0.0.1:${String(server.port)}` },
    /** Once nothing is on its way that was answered before. */
    async read(counted) {
      await eventually(async () => {
        expect((await counted()).get('ratelimit.memcache.pending_keys')).toBe(0);
      });
      return [await server.entries(keys)];
    },
    stop: () => server.stop(),
  };
}
