import { runRedisCounters } from '../support/redis-counters';
import { startRedisServer, type RedisServerOptions } from '../support/redis-server';
import { describeCounters, type CountersUnderTest } from './counters.contract';

async function createUnderTest(
  server: RedisServerOptions,
  options: { readonly scripts?: boolean } = {},
): Promise<CountersUnderTest> {
  const { address, client, stop } = await startRedisServer(server);
  const counters = runRedisCounters({ address, ...options });
  await counters.untilConnected();
  return {
    counters,
    async read(key) {
      const value = await client.get(key);
      return value === null ? undefined : { value, ttlSeconds: await client.ttl(key) };
    },
    async stop() {
      await counters.stop();
      await stop();
    },
  };
}

describeCounters('redis by script', () => createUnderTest({}));

describeCounters('redis by script over a unix socket', () => createUnderTest({ unixSocket: true }));

describeCounters('redis by plain commands', () => createUnderTest({}, { scripts: false }));
