import { rm } from 'node:fs/promises';
import { placeOf } from '../../src/counters/memcached/protocol';
import { createAuthority, type CertificateFiles } from '../support/certificates';
import { runMemcachedCounters, untilAdded } from '../support/edge/memcached-counters';
import { startMemcachedServer } from '../support/edge/memcached-server';
import { describeCounters, type CountersUnderTest } from '../contract/counters.contract';

async function createUnderTest(
  nodes: number,
  connections: number,
  tls?: CertificateFiles,
): Promise<CountersUnderTest> {
  const servers = await Promise.all(
    Array.from({ length: nodes }, () => startMemcachedServer(tls === undefined ? {} : { tls })),
  );
  const counters = runMemcachedCounters(
    servers.map(({ address }) => address),
    {
      maxIdleConnections: connections,
      // This is about counts: a busy machine may be late.
      timeoutMs: 10_000,
      ...(tls === undefined ? {} : { tls: { ...tls, skipHostnameVerification: false } }),
    },
  );
  await counters.untilConnected(nodes * connections);
  return {
    counters,
    async read(key) {
      await untilAdded(counters);
      return servers[placeOf(key, nodes, 1).node]?.read(key);
    },
    async stop() {
      await counters.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

const takesOddKeys = false;

const authority = createAuthority();
afterAll(() => rm(authority.directory, { recursive: true, force: true }));

describeCounters('memcached, three nodes with two connections each', () => createUnderTest(3, 2), {
  takesOddKeys,
});

describeCounters(
  'memcached with TLS',
  () => createUnderTest(1, 1, authority.issue('node', ['127.0.0.1'])),
  { takesOddKeys },
);
