import { merge } from 'rxjs';
import { createSnapshot } from '../../../../streams';
import { settled } from '../../../core/errors';
import { type StoreAddress } from '../../../platform/env-table/addresses';
import { type CounterBatch, type CounterReading, type CounterReply } from '../../../core/ports';
import { EMPTY_REPLY } from '../../../core/batches/reply-draft';
import { once } from '../../once';
import { addSplit, type SplitOptions } from '../../split';
import { unread } from '../../count';
import { toReading } from '../node';
import { createNodeSet } from '../node-set';
import {
  toAddressText,
  type HostAndPort,
  type RedisCounters,
  type RedisCountersOptions,
} from '../options';
import { type PoolDeps } from '../pool';
import { toNeverSentError, toUnavailableError } from '../store-errors';
import { createClusterNodes, type ClusterNode, createRedirectTargets } from './cluster-nodes';
import { sendFollowing } from './redirect';
import { addFollowing, readFollowing } from './follow-redirects';
import { slotOf } from './slots';
import { createTopologyRefresh } from './topology-refresh';

/** A share that starts later than this after its batch gets only the rest of the time-out. */
const LATE_MS = 5;

const NO_OWNER = 'no node owns its slot';
const CLOSED = 'the service is stopping';

/** Counters in a cluster: one call per node and batch; redirects are followed. */
export function createClusterStore(
  deps: PoolDeps,
  options: RedisCountersOptions,
  address: StoreAddress & { readonly kind: 'cluster' },
): RedisCounters {
  const { monotonicMs, onEvent } = deps;
  const { timeoutMs, clusterParallelism = 0, typeSetting } = options;
  const store = toAddressText(address);
  const connected = createSnapshot(false);
  let isClosed = false;

  const publish = (): void => {
    const isReady = nodes.isConnected && clusterNodes.isKnown;
    if (isReady !== connected.current) connected.set(isReady);
  };
  const onChange = (): void => {
    topology.wake();
    publish();
  };
  const reason = (): string => (isClosed ? CLOSED : topology.reason);
  const targets = createRedirectTargets({ monotonicMs, onEvent, store });
  const nodes = createNodeSet(
    { ...deps, onEvent: targets.onEvent, store, reason, onChange },
    { ...options, isClusterNode: true },
  );
  const clusterNodes = createClusterNodes(nodes, { ...deps, targets });
  const topology = createTopologyRefresh(
    { monotonicMs, onEvent, nodes, clusterNodes, onPlaced: publish },
    { store, seeds: address.nodes, answerMs: timeoutMs, typeSetting },
  );

  /** A redirect that cannot be followed also shows that slots have moved. */
  const nodeAt = (to: HostAndPort): ClusterNode | undefined => {
    const node = clusterNodes.redirectTarget(to);
    if (node === undefined) topology.wake();
    return node;
  };
  const onNotAtomic = once(() => {
    const why = 'the counters of a request may be on several nodes';
    onEvent?.({ kind: 'hold-back-not-atomic', store, reason: why });
  });
  const followDeps = {
    nodeAt,
    onStale: () => {
      topology.wake();
    },
    onUnknown: () => {
      deps.storeStatistics.outcomeUnknown();
    },
    onNotAtomic,
    monotonicMs,
  };

  /** How the shares of one batch are sent: all of them within one time-out. */
  const splitOptions = (): SplitOptions<ClusterNode | undefined> => {
    const startedMs = monotonicMs();
    const deadlineMs = startedMs + timeoutMs;
    return {
      parallelism: clusterParallelism,
      onNotAtomic,
      add(node, batch) {
        if (node === undefined) throw toUnavailableError(store, NO_OWNER);
        const nowMs = monotonicMs();
        if (nowMs >= deadlineMs) throw toNeverSentError(node.node.store, timeoutMs);
        const how = nowMs - startedMs > LATE_MS ? { deadlineMs } : undefined;
        return addFollowing(followDeps, node, batch, deadlineMs, how);
      },
      async read(node, keys) {
        if (node === undefined) throw toUnavailableError(store, NO_OWNER);
        return (await readFollowing(nodeAt, node, keys, { deadlineMs })).counts;
      },
    };
  };

  /** One call to each node that owns a slot of the keys. */
  const readByNode = (keys: readonly string[], withLives: boolean) => {
    const shares = new Map<ClusterNode, string[]>();
    for (const key of keys) {
      const node = clusterNodes.slotOwner(slotOf(key));
      if (node === undefined) continue;
      const share = shares.get(node);
      if (share === undefined) shares.set(node, [key]);
      else share.push(key);
    }
    const reading = { deadlineMs: monotonicMs() + timeoutMs, withLives };
    return [...shares].map(
      ([node, names]) => [names, readFollowing(nodeAt, node, names, reading)] as const,
    );
  };

  return {
    connected$: connected.changes$,
    run$: merge(nodes.run$, topology.run$),
    async add(batch: CounterBatch): Promise<CounterReply> {
      if (isClosed || !clusterNodes.isKnown) throw toUnavailableError(store, reason());
      if (batch.increments.length === 0) return EMPTY_REPLY;
      const partOf = ({ key }: { readonly key: string }) => clusterNodes.slotOwner(slotOf(key));
      return addSplit(batch, partOf, splitOptions());
    },
    async read(keys) {
      const answers = await Promise.all(readByNode(keys, false).map(([, answer]) => answer));
      return new Map(answers.flatMap(({ counts }) => [...counts]));
    },
    async readFields(key, fields) {
      const owner = clusterNodes.slotOwner(slotOf(key));
      if (owner === undefined) throw toUnavailableError(store, isClosed ? CLOSED : NO_OWNER);
      try {
        return await owner.node.readFields(key, fields);
      } catch (error) {
        // The slot may have moved: the next read then goes to its owner.
        topology.wake();
        throw error;
      }
    },
    async peek(keys) {
      const readings = new Map<string, CounterReading>();
      const noOwner = toUnavailableError(store, clusterNodes.isKnown ? NO_OWNER : reason());
      const nameOf = (key: string) => {
        const owner = clusterNodes.slotOwner(slotOf(key))?.node.store ?? store;
        return `Redis at ${owner} (slot ${String(slotOf(key))})`;
      };
      for (const key of keys) readings.set(key, unread(nameOf(key), noOwner));
      await Promise.all(
        readByNode(keys, true).map(async ([names, answer]) => {
          const read = await settled(() => answer);
          for (const key of names) readings.set(key, toReading(key, nameOf(key), read));
        }),
      );
      return readings;
    },
    async send(key, commands) {
      const owner = clusterNodes.slotOwner(slotOf(key));
      if (isClosed || owner === undefined) throw toUnavailableError(store, reason());
      const deadlineMs = monotonicMs() + timeoutMs;
      const start = { first: owner, asking: false };
      return sendFollowing(nodeAt, start, commands, deadlineMs);
    },
    lacksScripts: () => nodes.nodes.some((node) => node.lacksScripts),
    anyServer: () => nodes.nodes.find(({ anyConnection }) => anyConnection !== undefined)?.address,
    async close() {
      isClosed = true;
      topology.close();
      await nodes.close();
      connected.close();
    },
  };
}
