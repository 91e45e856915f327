import type { RedisCountersOptions } from '../../src/counters/redis/options';
import { describeWithStores, nearRedis } from '../support/near-stores';
import { runRedisCounters } from '../support/redis-counters';
import { batch, describeCounters, type CountersUnderTest } from './counters.contract';

/** Sockets, TLS, sentinels and clusters: test/integration/counters-on-redis.test.ts. */
async function createUnderTest(
  options: Partial<RedisCountersOptions> = {},
): Promise<CountersUnderTest> {
  const redis = await nearRedis(batch([]).nowSeconds);
  const counters = runRedisCounters({ address: redis.address, timeoutMs: 10_000, ...options });
  await counters.untilConnected();
  return {
    counters,
    async read(key) {
      const value = await redis.client.get(key);
      return value === null ? undefined : { value, ttlSeconds: await redis.client.ttl(key) };
    },
    async stop() {
      await counters.stop();
      await redis.client.quit();
    },
  };
}

describeWithStores('one Redis', () => {
  describeCounters('by script', () => createUnderTest(), { knowsAlgorithms: true });

  describeCounters('by plain commands', () => createUnderTest({ scripts: false }));
});
