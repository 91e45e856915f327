import { merge } from 'rxjs';
import { createSnapshot } from '../../../../streams';
import { type CounterBatch, type CounterReply } from '../../../core/ports';
import { addSplit, type SplitOptions } from '../../split';
import { toAddressText, type RedisStoreAddress } from '../options';
import { createNodeSet } from '../nodes';
import { type RedisCountersOptions } from '../options';
import { type PoolDeps } from '../pool';
import { type RedisCounters } from '../options';
import { refuseIfNothing } from '../split-batch';
import { toNeverSentError, toUnavailableError } from '../store-errors';
import { addFollowing } from './follow-redirects';
import { createClusterNodes, type ClusterNode } from './cluster-nodes';
import { readFollowing } from './follow-redirects';
import { slotOf } from './slots';
import { createWatch } from './topology-refresh';

/** A share that starts later than this after its batch has less than the whole time-out left. */
const LATE_MS = 5;

const NOBODY = 'no node owns its slot';
const CLOSED = 'the counters are closed';

/** Counters in a cluster: one call per node and batch, following slots to where they are. */
export function createClusterStore(
  deps: PoolDeps,
  options: RedisCountersOptions,
  address: RedisStoreAddress & { readonly kind: 'cluster' },
): RedisCounters {
  const { monotonicMs, onEvent } = deps;
  const { timeoutMs, clusterParallelism = 0 } = options;
  const store = toAddressText(address);
  const connected = createSnapshot(false);
  let hasWarned = false;
  let isClosed = false;

  const publish = (): void => {
    const isReady = nodes.isConnected && members.isKnown;
    if (isReady !== connected.current) connected.set(isReady);
  };
  const onChange = (): void => {
    watch.wake();
    publish();
  };
  const reason = (): string => (isClosed ? CLOSED : watch.reason);
  const nodes = createNodeSet(
    { ...deps, store, reason, onChange },
    { ...options, isClusterNode: true },
  );
  const members = createClusterNodes(nodes, deps);
  const watch = createWatch(
    { monotonicMs, onEvent, nodes, members, onPlaced: publish },
    { store, seeds: address.nodes, answerMs: timeoutMs },
  );

  const followDeps = {
    memberAt: members.guest,
    onStale: () => {
      watch.wake();
    },
    monotonicMs,
  };
  const onNotAtomic = (): void => {
    if (hasWarned) return;
    hasWarned = true;
    const why = 'the counters of a request may lie on several nodes';
    onEvent?.({ kind: 'hold-back-not-atomic', store, reason: why });
  };

  /** How the shares of one batch are sent: all of them within one time-out. */
  const splitOptions = (): SplitOptions<ClusterNode | undefined> => {
    const startedMs = monotonicMs();
    const deadlineMs = startedMs + timeoutMs;
    return {
      parallelism: clusterParallelism,
      onNotAtomic,
      add(member, batch) {
        if (member === undefined) throw toUnavailableError(store, NOBODY);
        const nowMs = monotonicMs();
        if (nowMs >= deadlineMs) throw toNeverSentError(member.node.store, timeoutMs);
        const how = nowMs - startedMs > LATE_MS ? { deadlineMs } : undefined;
        return addFollowing(followDeps, member, batch, deadlineMs, how);
      },
      async read(member, keys) {
        if (member === undefined) throw toUnavailableError(store, NOBODY);
        return readFollowing(members.guest, member, keys, deadlineMs);
      },
    };
  };

  return {
    connected$: connected.changes$,
    run$: merge(nodes.run$, watch.run$),
    async add(batch: CounterBatch): Promise<CounterReply> {
      if (isClosed || !members.isKnown) throw toUnavailableError(store, reason());
      if (batch.increments.length === 0) return { after: [], held: undefined, failures: undefined };
      const partOf = ({ key }: { readonly key: string }) => members.owner(slotOf(key));
      return refuseIfNothing(await addSplit(batch, partOf, splitOptions()));
    },
    async read(keys) {
      const shares = new Map<ClusterNode, string[]>();
      for (const key of keys) {
        const member = members.owner(slotOf(key));
        if (member === undefined) continue;
        const share = shares.get(member);
        if (share === undefined) shares.set(member, [key]);
        else share.push(key);
      }
      const deadlineMs = monotonicMs() + timeoutMs;
      const answers = await Promise.all(
        [...shares].map(([member, names]) =>
          readFollowing(members.guest, member, names, deadlineMs),
        ),
      );
      return new Map(answers.flatMap((counts) => [...counts]));
    },
    async close() {
      isClosed = true;
      watch.close();
      await nodes.close();
      connected.close();
    },
  };
}
