import { merge } from 'rxjs';
import { createSnapshot, onceTrue } from '../../../streams';
import { type Statistics } from '../../core/ports';
import { refuseIfNothing } from '../../core/batches/reply-draft';
import { createClusterStore } from './cluster/create-cluster-store';
import { createForgetChannel, type ForgetChannel } from './forget-channel';
import { createNode, peekAt } from './node';
import {
  toAddressText,
  type NodeOptions,
  type RedisCounters,
  type RedisCountersDeps,
  type RedisCountersOptions,
} from './options';
import { type PoolDeps, type StoreStatistics } from './pool';
import { createSentinelStore } from './sentinel/create-sentinel-store';

export { createRedisWriter, readRecordOf as readOwnForm } from './counter-writer';
export { listOpen } from './open-reservations';

/**
 * Counters in Redis: one server, the master that sentinels name, or a cluster. Every batch is sent at most once; one that was sent
 * and not answered is an error (`store_timeout`, or `store_unavailable` when the connection broke), may have been counted or not,
 * and counts as `store_unknown_outcome`. Without a connection `add` fails at once.
 */
export function createRedisCounters(
  deps: RedisCountersDeps,
  options: RedisCountersOptions,
): RedisCounters {
  const { statisticsPrefix: prefix = 'ratelimit.redis_pool' } = options;
  const { storeStatistics, removeGauges } = createStoreStatistics(deps.statistics, prefix);
  const store = createStore({ ...deps, storeStatistics }, options);
  const forget = createForgetting(store, deps, options);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    forget?.close();
    return store.close().finally(removeGauges);
  };
  return {
    ...store,
    ...(forget && { publishInvalidation: forget.tell, run$: merge(store.run$, forget.run$) }),
    close: () => (closing ??= close()),
  };
}

function createForgetting(
  store: RedisCounters,
  { onForget, forgetWhen$, ...deps }: RedisCountersDeps,
  { forgetChannel: channel, address, ...options }: RedisCountersOptions,
): ForgetChannel | undefined {
  if (onForget === undefined || channel === undefined) return undefined;
  const named = { ...options, channel, name: toAddressText(address) };
  const forget = createForgetChannel({ ...deps, store, onForget }, named);
  return forgetWhen$ === undefined
    ? forget
    : { ...forget, run$: onceTrue(forgetWhen$, forget.run$) };
}

function createStore(deps: PoolDeps, options: RedisCountersOptions): RedisCounters {
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

function createSingleStore(deps: PoolDeps, options: NodeOptions): RedisCounters {
  const connected = createSnapshot(false);
  const onPresence = (isThere: boolean): void => {
    if (isThere !== connected.current) connected.set(isThere);
  };
  const node = createNode({ ...deps, onPresence }, options);
  return {
    connected$: connected.changes$,
    run$: node.run$,
    add: async (batch) => refuseIfNothing(await node.add(batch)),
    read: async (keys) => (await node.read(keys)).counts,
    readFields: node.readFields,
    peek: (keys) => peekAt(node, keys),
    send: (_key, commands) => node.send(commands),
    lacksScripts: () => node.lacksScripts,
    anyServer: () => options.address,
    async close() {
      await node.close('the service is stopping');
      connected.close();
    },
  };
}

const UNKNOWN_OUTCOME = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

function createStoreStatistics(
  statistics: Pick<Statistics, 'gauge' | 'count'> | undefined,
  prefix: string,
): { readonly storeStatistics: StoreStatistics; readonly removeGauges: () => void } {
  let active = 0;
  // Registered from the start, so that its first increment is seen too.
  statistics?.count(`${prefix}.counters_mended`, 0);
  /** Seconds, by server. */
  const differences = new Map<string, number>();
  const removers = [
    statistics?.gauge(`${prefix}.cx_active`, () => active),
    statistics?.gauge(`${prefix}.clock_difference_seconds`, () =>
      Math.max(0, ...differences.values()),
    ),
  ];
  return {
    storeStatistics: {
      opened() {
        active += 1;
        statistics?.count(`${prefix}.cx_total`, 1);
      },
      closed() {
        active -= 1;
        statistics?.count(`${prefix}.cx_local_close`, 1);
      },
      outcomeUnknown() {
        statistics?.count(UNKNOWN_OUTCOME, 1);
      },
      mended(counters) {
        statistics?.count(`${prefix}.counters_mended`, counters);
      },
      clockDiffers(store, seconds) {
        if (seconds === undefined) differences.delete(store);
        else differences.set(store, Math.round(seconds * 1_000) / 1_000);
      },
    },
    removeGauges: () => {
      for (const remove of removers) remove?.();
    },
  };
}
