import { placeOf } from '../../src/counters/memcached/key';
import { runMemcachedCounters } from '../support/memcached-counters';
import { startMemcachedServer } from '../support/memcached-server';
import { describeCounters, type CountersUnderTest } from './counters.contract';

async function createUnderTest(nodes: number, connections: number): Promise<CountersUnderTest> {
  const servers = await Promise.all(Array.from({ length: nodes }, () => startMemcachedServer()));
  const counters = runMemcachedCounters(
    servers.map(({ address }) => address),
    { maxIdleConnections: connections },
  );
  await counters.untilConnected(nodes * connections);
  return {
    counters,
    async read(key) {
      await counters.untilAdded();
      return servers[placeOf(key, nodes, 1).node]?.read(key);
    },
    async stop() {
      await counters.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

const takesOddKeys = false;

describeCounters('memcached', () => createUnderTest(1, 1), { takesOddKeys });

describeCounters('memcached, three nodes with two connections each', () => createUnderTest(3, 2), {
  takesOddKeys,
});
