import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { RedisCountersOptions } from '../../src/counters/redis/options';
import { createPerSecondSplit } from '../../src/counters/split';
import type { CounterBatch, Counters } from '../../src/core/ports';
import { createAuthority } from '../support/certificates';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import { runRedisCounters } from '../support/edge/redis-counters';
import { startSentinels, type SentinelSetupOptions } from '../support/edge/redis-sentinels';
import {
  startRedisServer,
  type RedisServer,
  type RedisServerOptions,
} from '../support/edge/redis-server';
import {
  batch,
  describeCounters,
  increment,
  type CountersUnderTest,
} from '../contract/counters.contract';

/** This is about counts: a busy machine may be late. */
const TIMEOUT_MS = 10_000;

type More = Partial<Omit<RedisCountersOptions, 'address'>>;

const PASSWORD = 'correct-horse:battery';
const SENTINEL_PASSWORD = 'staple';
const auth = { username: undefined, password: PASSWORD };
const PASSWORDS = [
  ['requirepass', PASSWORD],
  ['masterauth', PASSWORD],
] as const;

const authority = createAuthority();
afterAll(() => rm(authority.directory, { recursive: true, force: true }));

/** Servers that speak TLS only and want a certificate and a password, and a client that has both. */
function secured() {
  const server = authority.issue('server', ['127.0.0.1']);
  const mine = authority.issue('client');
  const client = {
    password: PASSWORD,
    tls: {
      ca: readFileSync(mine.caFile),
      cert: readFileSync(mine.certFile),
      key: readFileSync(mine.keyFile),
      checkServerIdentity: () => undefined,
    },
  };
  return { server, client, options: { auth, tls: { ...mine, skipHostnameVerification: false } } };
}

async function createUnderTest(
  server: RedisServerOptions,
  options: More = {},
  client?: Parameters<typeof startRedisServer>[1],
): Promise<CountersUnderTest> {
  const started = await startRedisServer(server, client);
  return over(started.address, options, () => Promise.resolve(started), started.stop);
}

async function over(
  address: RedisCountersOptions['address'],
  options: More,
  serverOf: (key: string) => Promise<RedisServer>,
  stop: () => Promise<void>,
): Promise<CountersUnderTest> {
  const counters = runRedisCounters({ address, timeoutMs: TIMEOUT_MS, ...options });
  await counters.untilConnected();
  if (address.kind === 'cluster') await untilAllConnected(counters);
  return {
    counters,
    read: async (key) => readFrom(await serverOf(key), key),
    async stop() {
      await counters.stop();
      await stop();
    },
  };
}

/** A cluster is connected when one of its nodes is; a batch waits for those that it needs. */
async function untilAllConnected(counters: Pick<Counters, 'add'>): Promise<void> {
  const increments = Array.from({ length: 64 }, (_, at) =>
    increment(`all-connected-${String(at)}`),
  );
  expect(await counters.add(batch(increments))).toMatchObject({ failures: undefined });
}

async function readFrom({ client }: RedisServer, key: string) {
  const value = await client.get(key);
  return value === null ? undefined : { value, ttlSeconds: await client.ttl(key) };
}

/** One cluster for all that differ in their client only: starting one takes two seconds. */
let shared: Promise<RedisCluster> | undefined;
afterAll(async () => (await shared)?.stop());

async function createOnCluster(options: More = {}): Promise<CountersUnderTest> {
  shared ??= startRedisCluster();
  const { address, ownerOf, masters } = await shared;
  await Promise.all(masters.map(({ client }) => client.flushall()));
  return over(address, options, ownerOf, () => Promise.resolve());
}

function createSecured(): Promise<CountersUnderTest> {
  const { server, client, options } = secured();
  return createUnderTest({ tls: server, settings: PASSWORDS }, options, client);
}

async function createOnSecuredCluster(): Promise<CountersUnderTest> {
  const { server, client, options } = secured();
  const cluster = await startRedisCluster({ tls: server, client, settings: PASSWORDS });
  return over(cluster.address, options, cluster.ownerOf, cluster.stop);
}

/** TLS everywhere, and passwords apart. */
function createOnSecuredSentinels(): Promise<CountersUnderTest> {
  const { server, client, options } = secured();
  const sentinelAuth = { username: undefined, password: SENTINEL_PASSWORD };
  return createOnSentinels(
    {
      password: PASSWORD,
      sentinelPassword: SENTINEL_PASSWORD,
      tls: server,
      tlsClient: client.tls,
      areSentinelsTls: true,
    },
    { ...options, sentinelAuth, sentinelTls: options.tls },
  );
}

async function createOnSentinels(
  given: SentinelSetupOptions = {},
  options: More = {},
): Promise<CountersUnderTest> {
  const setup = await startSentinels(given);
  const masterOf = async () => {
    const port = await setup.masterPort();
    return setup.servers.find((server) => server.port === port) as RedisServer;
  };
  return over(setup.address, options, masterOf, setup.stop);
}

/** Two servers; every other key counts per second. */
async function createSplit(): Promise<CountersUnderTest> {
  const servers = await Promise.all([startRedisServer(), startRedisServer()]);
  const [others, perSecond] = servers.map(({ address }) =>
    runRedisCounters({ address, timeoutMs: TIMEOUT_MS }),
  ) as [ReturnType<typeof runRedisCounters>, ReturnType<typeof runRedisCounters>];
  await Promise.all([others.untilConnected(), perSecond.untilConnected()]);
  const split = createPerSecondSplit({
    perSecond: { counters: perSecond, read: perSecond.read },
    others: { counters: others, read: others.read },
    onNotAtomic: () => undefined,
  });
  /** Serial numbers of keys are before the start of their window. */
  const isPerSecond = (key: string) => (key.charCodeAt(key.length - 12) & 1) === 1;
  return {
    counters: {
      add: (batch: CounterBatch) =>
        split.add({
          ...batch,
          increments: batch.increments.map((each) => ({
            ...each,
            rule: { ...each.rule, isPerSecond: isPerSecond(each.key) },
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

const ALGORITHMS = { knowsAlgorithms: true };

describeCounters('redis by script over a unix socket', () => createUnderTest({ unixSocket: true }));

describeCounters('redis with TLS and a password', createSecured);

describeCounters('redis behind sentinels', () => createOnSentinels(), ALGORITHMS);

describeCounters('redis behind sentinels, with TLS and passwords', createOnSecuredSentinels);

describeCounters('redis cluster by script', () => createOnCluster(), ALGORITHMS);

describeCounters('redis cluster by plain commands', () => createOnCluster({ scripts: false }));

describeCounters(
  'redis cluster, one node after the other',
  () => createOnCluster({ clusterParallelism: 1 }),
  ALGORITHMS,
);

describeCounters('redis cluster with TLS and a password', createOnSecuredCluster);

describeCounters('redis, limits per second apart', createSplit, ALGORITHMS);
