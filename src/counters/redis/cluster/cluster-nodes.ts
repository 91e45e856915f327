import { type HostAndPort } from '../options';
import { type NodeSet } from '../nodes';
import { type RedisNode } from '../node';
import { type NodeGuard, type RedisCountersDeps } from '../options';
import { type SlotRange } from './slots';
import { SLOTS } from './slots';

/** One node of a cluster. */
export interface ClusterNode {
  readonly host: string;
  readonly node: RedisNode;
  /** As those of the node, behind its guard. */
  readonly add: RedisNode['add'];
  readonly read: RedisNode['read'];
}

/** Who owns which slot, and those that have been heard of besides. */
export interface ClusterNodes {
  /** Slots have owners that are known. */
  readonly isKnown: boolean;
  owner(slot: number): ClusterNode | undefined;
  /** A node that an answer has named; it stays for a while, also when it owns nothing. */
  readonly guest: (place: HostAndPort) => ClusterNode;
  /** Takes over how slots are placed; answers the owners when that is news. */
  place(ranges: readonly SlotRange[]): readonly string[] | undefined;
  /** All owners are connected. */
  isComplete(): boolean;
}

const UNGUARDED: NodeGuard = (ask) => ask();

/** A node without slots is kept for this long after an answer has named it. */
const GUEST_MS = 10_000;

export function createClusterNodes(
  nodes: Pick<NodeSet, 'node' | 'keepOnly'>,
  { monotonicMs, guardNode }: Pick<RedisCountersDeps, 'monotonicMs' | 'guardNode'>,
): ClusterNodes {
  const owners = new Array<ClusterNode | undefined>(SLOTS).fill(undefined);
  const guests = new Map<RedisNode, number>();
  const known = new Map<RedisNode, ClusterNode>();
  let placement = '';
  let holders = new Set<RedisNode>();

  const member = ({ host, port }: HostAndPort): ClusterNode => {
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
    const oldest = monotonicMs() - GUEST_MS;
    for (const [node, sinceMs] of guests) if (sinceMs < oldest) guests.delete(node);
    const kept = new Set([...holders, ...guests.keys()]);
    for (const node of known.keys()) if (!kept.has(node)) known.delete(node);
    nodes.keepOnly(kept);
  };

  return {
    get isKnown() {
      return placement !== '';
    },
    owner: (slot) => owners[slot],
    guest(place) {
      const found = member(place);
      guests.set(found.node, monotonicMs());
      return found;
    },
    place(ranges) {
      owners.fill(undefined);
      holders = new Set();
      for (const { first, last, owner } of ranges) {
        const holder = member(owner);
        holders.add(holder.node);
        owners.fill(holder, first, last + 1);
      }
      dropOthers();
      const before = placement;
      placement = JSON.stringify(ranges);
      return placement === before ? undefined : [...holders].map(({ store }) => store);
    },
    isComplete() {
      for (const { anyConnection } of holders) if (anyConnection === undefined) return false;
      return true;
    },
  };
}
