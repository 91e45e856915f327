import type { RedisCountersOptions } from '../../src/counters/redis/options';
import { createPerSecondSplit } from '../../src/counters/per-second/create-per-second-split';
import type { CounterBatch } from '../../src/core/ports';
import { startRedisCluster } from '../support/redis-cluster';
import { runRedisCounters } from '../support/redis-counters';
import { startSentinels } from '../support/redis-sentinels';
import {
  startRedisServer,
  type RedisServer,
  type RedisServerOptions,
} from '../support/redis-server';
import { describeCounters, type CountersUnderTest } from './counters.contract';

/** Starting several servers takes a while on a busy machine. */
jest.setTimeout(60_000);

type More = Partial<Omit<RedisCountersOptions, 'address'>>;

async function createUnderTest(
  server: RedisServerOptions,
  options: More = {},
): Promise<CountersUnderTest> {
  const started = await startRedisServer(server);
  return over(started.address, options, () => Promise.resolve(started), started.stop);
}

async function over(
  address: RedisCountersOptions['address'],
  options: More,
  serverOf: (key: string) => Promise<RedisServer>,
  stop: () => Promise<void>,
): Promise<CountersUnderTest> {
  const counters = runRedisCounters({ address, ...options });
  await counters.untilConnected();
  return {
    counters,
    read: async (key) => readFrom(await serverOf(key), key),
    async stop() {
      await counters.stop();
      await stop();
    },
  };
}

async function readFrom({ client }: RedisServer, key: string) {
  const value = await client.get(key);
  return value === null ? undefined : { value, ttlSeconds: await client.ttl(key) };
}

async function createOnCluster(options: More = {}): Promise<CountersUnderTest> {
  const cluster = await startRedisCluster();
  return over(cluster.address, options, cluster.ownerOf, cluster.stop);
}

async function createOnSentinels(): Promise<CountersUnderTest> {
  const setup = await startSentinels();
  const masterOf = async () => {
    const port = await setup.masterPort();
    return setup.servers.find((server) => server.port === port) as RedisServer;
  };
  return over(setup.address, {}, masterOf, setup.stop);
}

/** Two servers; every other key counts per second. */
async function createSplit(): Promise<CountersUnderTest> {
  const servers = await Promise.all([startRedisServer(), startRedisServer()]);
  const [others, perSecond] = servers.map(({ address }) => runRedisCounters({ address })) as [
    ReturnType<typeof runRedisCounters>,
    ReturnType<typeof runRedisCounters>,
  ];
  await Promise.all([others.untilConnected(), perSecond.untilConnected()]);
  const split = createPerSecondSplit({ perSecond, others, onNotAtomic: () => undefined });
  const isPerSecond = (key: string) => (key.charCodeAt(key.length - 15) & 1) === 1;
  return {
    counters: {
      add: (batch: CounterBatch) =>
        split.add({
          ...batch,
          increments: batch.increments.map((each) => ({
            ...each,
            unit: isPerSecond(each.key) ? 'SECOND' : 'HOUR',
          })),
        }),
      close: () => split.close(),
    },
    read: (key) => readFrom(servers[isPerSecond(key) ? 1 : 0], key),
    async stop() {
      await Promise.all([others.stop(), perSecond.stop()]);
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

describeCounters('redis by script', () => createUnderTest({}));

describeCounters('redis by script over a unix socket', () => createUnderTest({ unixSocket: true }));

describeCounters('redis by plain commands', () => createUnderTest({}, { scripts: false }));

describeCounters('redis behind sentinels', createOnSentinels);

describeCounters('redis cluster by script', () => createOnCluster());

describeCounters('redis cluster by plain commands', () => createOnCluster({ scripts: false }));

describeCounters('redis cluster, one node after the other', () =>
  createOnCluster({ clusterParallelism: 1 }),
);

describeCounters('redis, limits per second apart', createSplit);
