import type { AlgorithmName } from '../../src/core/kinds/kinds';
import { createRedisCounters } from '../../src/counters/redis/create-redis-counters';
import type { RedisAddress } from '../../src/counters/redis/options';
import { startRedisServer } from '../support/edge/redis-server';
import { cpuMicros } from './cpu';
import { createDecider, measureFlow } from './flow';
import { someRules } from './load';
import { median } from './measure';

const DECISIONS_PER_ROUND = 100_000;

/** CPU µs per decision in bursts of 100: ours, and the Redis server's. */
export async function benchRedisFlow(
  descriptors: 1 | 2,
  algorithm?: AlgorithmName,
): Promise<{ ours: number; redis: number }> {
  const server = await startRedisServer();
  const { counters, stop } = await openCounters(server.address);
  const rounds: number[] = [];
  let before = cpuMicros(server.pid);
  const ours = await measureFlow(
    createDecider(counters, someRules(1_000, algorithm)),
    { descriptors },
    () => {
      const after = cpuMicros(server.pid);
      rounds.push((after - before) / DECISIONS_PER_ROUND);
      before = after;
    },
  );
  await stop();
  await server.stop();
  return { ours, redis: median(rounds.slice(2)) };
}

/** Counters that are connected. */
export async function openCounters(address: RedisAddress) {
  const counters = createRedisCounters(
    { monotonicMs: () => performance.now(), random: Math.random },
    { address, timeoutMs: 10_000 },
  );
  const running = new Promise((resolve) => {
    counters.run$.subscribe({
      complete: () => {
        resolve(undefined);
      },
    });
  });
  await new Promise<void>((resolve) => {
    counters.connected$.subscribe((connected) => {
      if (connected) resolve();
    });
  });
  return {
    counters,
    async stop() {
      await counters.close();
      await running;
    },
  };
}
