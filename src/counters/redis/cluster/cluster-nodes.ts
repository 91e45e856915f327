import type { RedisNode } from '../node';
import type { NodeSet } from '../node-set';
import {
  isPort,
  toAddressText,
  type HostAndPort,
  type NodeGuard,
  type RedisCountersDeps,
  type RedisEvent,
} from '../options';
import { SLOTS, type SlotRange } from './slots';

interface RedirectTargetsDeps extends Pick<RedisCountersDeps, 'monotonicMs'> {
  readonly onEvent: RedisCountersDeps['onEvent'] | undefined;
  /** The cluster's name in messages. */
  readonly store: string;
}

/** A node without slots is kept for this long after a redirect has named it. */
const KEPT_MS = 10_000;
/** A healthy node names few others before the slots are read anew. */
const MAX_TARGETS = 32;

/** Nodes that redirects have named and that own no known slot: few, and each for a while. */
export function createRedirectTargets({ monotonicMs, onEvent, store }: RedirectTargetsDeps) {
  const namedMs = new Map<RedisNode, number>();
  let isAstray = false;

  const report = (reason: string): void => {
    isAstray = true;
    onEvent?.({ kind: 'redirects-astray', store, reason });
  };
  const isTarget = (name: string): boolean => {
    for (const node of namedMs.keys()) if (node.store === name) return true;
    return false;
  };
  return {
    get nodes() {
      return namedMs.keys();
    },
    /** A redirect names this one again. */
    keep(node: RedisNode) {
      namedMs.set(node, monotonicMs());
    },
    isFull() {
      if (namedMs.size < MAX_TARGETS) return false;
      report(`more than ${String(MAX_TARGETS)} addresses that own no slot`);
      return true;
    },
    /** Removes those that own slots, and those that were not named recently. */
    drop(owners: ReadonlySet<RedisNode>) {
      const oldestMs = monotonicMs() - KEPT_MS;
      for (const [node, sinceMs] of namedMs)
        if (owners.has(node) || sinceMs < oldestMs) namedMs.delete(node);
      if (!isAstray || namedMs.size > 0) return;
      isAstray = false;
      onEvent?.({ kind: 'redirects-followed', store });
    },
    /** An event of a node: all unreachable nodes that redirects name are one outage of the store. */
    onEvent: (event: RedisEvent) => {
      if (event.kind === 'unreachable' && isTarget(event.store))
        report(`${event.store}: ${event.reason}`);
      else onEvent?.(event);
    },
  };
}

type RedirectTargets = ReturnType<typeof createRedirectTargets>;

export interface ClusterNode {
  readonly host: string;
  readonly node: RedisNode;
  /** The node's `add` through its guard. */
  readonly add: RedisNode['add'];
  readonly read: RedisNode['read'];
}

export interface ClusterNodesDeps extends Pick<RedisCountersDeps, 'guardNode'> {
  readonly targets: RedirectTargets;
}

const UNGUARDED: NodeGuard = (ask) => ask();

/** The owners of slots, and the nodes that redirects have named. */
export function createClusterNodes(
  nodes: Pick<NodeSet, 'node' | 'nodes' | 'keepOnly'>,
  { guardNode, targets }: ClusterNodesDeps,
) {
  const slotOwners = new Array<ClusterNode | undefined>(SLOTS).fill(undefined);
  const known = new Map<RedisNode, ClusterNode>();
  let placement = '';
  let owners = new Set<RedisNode>();

  const nodeAt = ({ host, port }: HostAndPort): ClusterNode => {
    const node = nodes.node({ kind: 'tcp', host, port });
    const found = known.get(node) ?? guarded(host, node);
    known.set(node, found);
    return found;
  };
  const guarded = (host: string, node: RedisNode): ClusterNode => {
    const guard = guardNode?.(node.store) ?? UNGUARDED;
    return {
      host,
      node,
      add: (batch, how) => guard(() => node.add(batch, how)),
      read: (keys, how) => guard(() => node.read(keys, how)),
    };
  };
  const dropOthers = (): void => {
    targets.drop(owners);
    const kept = new Set([...owners, ...targets.nodes]);
    for (const node of known.keys()) if (!kept.has(node)) known.delete(node);
    nodes.keepOnly(kept);
  };

  return {
    /** The owners of slots are known. */
    get isKnown() {
      return placement !== '';
    },
    slotOwner: (slot: number) => slotOwners[slot],
    /** The node that a redirect names; it stays for a while, even if it owns nothing. Undefined: invalid, or too many were named. */
    redirectTarget(address: HostAndPort) {
      if (!isPort(address.port)) return undefined;
      const name = toAddressText({ kind: 'tcp', ...address });
      const isKnown = nodes.nodes.some(({ store }) => store === name);
      if (!isKnown && targets.isFull()) return undefined;
      const target = nodeAt(address);
      if (!owners.has(target.node)) targets.keep(target.node);
      return target;
    },
    /** Applies a slot map; returns the owners when they have changed. */
    place(ranges: readonly SlotRange[]) {
      slotOwners.fill(undefined);
      owners = new Set();
      for (const { first, last, owner } of ranges) {
        const node = nodeAt(owner);
        owners.add(node.node);
        slotOwners.fill(node, first, last + 1);
      }
      dropOthers();
      const before = placement;
      placement = JSON.stringify(ranges);
      return placement === before ? undefined : [...owners].map(({ store }) => store);
    },
    /** Leaves nodes that own nothing and were not named recently. */
    dropOthers() {
      if (placement !== '') dropOthers();
    },
    /** All owners are connected. */
    isComplete() {
      for (const { anyConnection } of owners) if (anyConnection === undefined) return false;
      return true;
    },
  };
}

export type ClusterNodes = ReturnType<typeof createClusterNodes>;
