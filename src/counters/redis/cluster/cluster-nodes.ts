import { type RedisNode } from '../node';
import { type NodeSet } from '../node-set';
import {
  isPort,
  toAddressText,
  type HostAndPort,
  type NodeGuard,
  type RedisCountersDeps,
} from '../options';
import { type RedirectTargets } from './redirect-targets';
import { SLOTS, type SlotRange } from './slots';

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
