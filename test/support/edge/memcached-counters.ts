import type {
  MemcachedCountersDeps,
  MemcachedCountersOptions,
  NodeAddress,
} from '../../../src/counters/memcached/options';
import { runMemcachedCounters as run, type RunningMemcachedCounters } from '../memcached-counters';
import { eventually } from './eventually';

export { stopMemcachedCounters, type RunningMemcachedCounters } from '../memcached-counters';

/** By the real clock. */
export const runMemcachedCounters = (
  addresses: readonly NodeAddress[],
  options: Partial<MemcachedCountersOptions> = {},
  more: Partial<MemcachedCountersDeps> = {},
): RunningMemcachedCounters =>
  run(addresses, options, { monotonicMs: () => performance.now(), random: Math.random, ...more });

export async function connectMemcachedCounters(
  ...args: Parameters<typeof runMemcachedCounters>
): Promise<RunningMemcachedCounters> {
  const counters = runMemcachedCounters(...args);
  await counters.untilConnected();
  return counters;
}

/** Waits until every hit that was answered has been added or given up, on all nodes. */
export const untilAdded = (counters: RunningMemcachedCounters): Promise<void> =>
  eventually(() => {
    if (counters.pendingKeys > 0) throw new Error('hits are on their way');
  });
