import type { RedisCountersOptions } from '../../../src/counters/redis/options';
import { eventually } from './eventually';
import {
  runRedisCounters as run,
  type RedisDeps,
  type RunningRedisCounters,
} from '../redis-counters';

export { stopRedisCounters, type RunningRedisCounters } from '../redis-counters';

/** By the real clock. */
export function runRedisCounters(
  options: Pick<RedisCountersOptions, 'address'> & Partial<RedisCountersOptions>,
  deps: Partial<RedisDeps> = {},
): RunningRedisCounters {
  const real = { monotonicMs: () => performance.now(), random: Math.random };
  const counters = run(options, { ...real, ...deps });
  return Object.assign(counters, {
    untilConnected: () =>
      eventually(() => {
        const { states, events } = counters;
        if (states.at(-1) !== true) throw new Error(`not connected: ${JSON.stringify(events)}`);
      }),
  });
}

export async function connectRedisCounters(
  ...args: Parameters<typeof runRedisCounters>
): Promise<RunningRedisCounters> {
  const counters = runRedisCounters(...args);
  await counters.untilConnected();
  return counters;
}
