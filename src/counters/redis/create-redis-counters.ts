import { createClusterStore } from './cluster/create-cluster-store';
import { createNode } from './node';
import { type NodeOptions, type RedisCountersDeps, type RedisCountersOptions } from './options';
import { type PoolDeps } from './pool';
import { type RedisStore } from './redis-store';
import { createSentinelStore } from './sentinel/create-sentinel-store';
import { refuseIfNothing } from './split-batch';
import { createStoreStatistics } from './store-statistics';

export type RedisCounters = RedisStore;

/**
 * Counters in Redis: one server, the master that sentinels name, or a cluster. Every batch is sent at
 * most once; what was sent and not answered is an error (`store_timeout`, or `store_unavailable` when the
 * connection broke), may be counted or not, and counts as `store_unknown_outcome`. Without a connection
 * `add` fails at once.
 */
export function createRedisCounters(
  deps: RedisCountersDeps,
  options: RedisCountersOptions,
): RedisCounters {
  const storeStatistics = createStoreStatistics(deps.statistics, options.statisticsPrefix);
  const store = createStore({ ...deps, storeStatistics }, options);
  let closing: Promise<void> | undefined;
  const settle = async (): Promise<void> => {
    await store.close();
    storeStatistics.remove();
  };
  return { ...store, close: () => (closing ??= settle()) };
}

function createStore(deps: PoolDeps, options: RedisCountersOptions): RedisStore {
  const { address } = options;
  switch (address.kind) {
    case 'sentinel':
      return createSentinelStore(deps, options, address);
    case 'cluster':
      return createClusterStore(deps, options, address);
    case 'tcp':
    case 'unix':
      return createSingleStore(deps, { ...options, address });
  }
}

function createSingleStore(deps: PoolDeps, options: NodeOptions): RedisStore {
  const node = createNode(deps, options);
  return {
    connected$: node.connected$,
    run$: node.run$,
    add: async (batch) => refuseIfNothing(await node.add(batch)),
    read: async (keys) => (await node.read(keys)).counts,
    close: () => node.close('the counters are closed'),
  };
}
