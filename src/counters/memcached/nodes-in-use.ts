import { addressText } from '../../platform/listen-address';
import { type NodeAddress } from './options';
import type { NodePart } from './node-part';

export interface MemcachedNode {
  readonly text: string;
  readonly parts: readonly NodePart[];
}

export interface NodesInUseDeps {
  readonly openNode: (address: NodeAddress) => MemcachedNode;
  readonly closeNode: (node: MemcachedNode) => void;
}

/**
 * `waits`: a node gets keys once it was connected, because they would fail until then; so the nodes of a new list come into use
 * together, once each was connected or failed to. A connected node keeps its keys while it is unreachable: counting them elsewhere
 * too would let a limit pass twice.
 */
export function createNodesInUse(
  { openNode, closeNode }: NodesInUseDeps,
  { waits }: { readonly waits: boolean },
) {
  const opened = new Map<string, MemcachedNode>();
  let listed: readonly MemcachedNode[] = [];
  let current: readonly MemcachedNode[] = [];

  const choose = (): readonly MemcachedNode[] => {
    if (!waits) return listed;
    if (!listed.every(({ parts }) => parts.every((part) => part.wasTried()))) return current;
    const connected = listed.filter(({ parts }) => parts.every((part) => part.wasConnected()));
    if (connected.length > 0) return connected;
    return current.length > 0 ? current : listed;
  };
  const update = (): void => {
    current = choose();
    for (const [text, node] of opened) {
      if (listed.includes(node) || current.includes(node)) continue;
      opened.delete(text);
      closeNode(node);
    }
  };
  const openOnce = (address: NodeAddress): MemcachedNode => {
    const text = addressText(address);
    const node = opened.get(text) ?? openNode(address);
    opened.set(text, node);
    return node;
  };
  return {
    /** In the order that places keys. */
    get current() {
      return current;
    },
    /** All open nodes, also those without keys yet. */
    open: () => opened.values(),
    /** Replaces the list of nodes. */
    list(addresses: readonly NodeAddress[]) {
      listed = addresses.map(openOnce);
      update();
    },
    /** A connection was opened or lost. */
    presenceChanged: update,
  };
}
