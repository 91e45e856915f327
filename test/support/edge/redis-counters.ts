import type { RedisCountersOptions } from '../../../src/counters/redis/options';
import {
  runRedisCounters as run,
  type RedisDeps,
  type RunningRedisCounters,
} from '../redis-counters';

export { stopRedisCounters, type RunningRedisCounters } from '../redis-counters';

/** By the real clock. */
export const runRedisCounters = (
  options: Pick<RedisCountersOptions, 'address'> & Partial<RedisCountersOptions>,
  deps: Partial<RedisDeps> = {},
): RunningRedisCounters =>
  run(options, { monotonicMs: () => performance.now(), random: Math.random, ...deps });
