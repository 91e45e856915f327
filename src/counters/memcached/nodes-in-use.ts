import { addressText } from '../../platform/listen-address';
import type { NodeAddress, MemcachedCountersDeps, NodeList } from './options';
import type { NodePart } from './node-part';
import { resolveSrv as resolveWithSystem } from 'node:dns/promises';
import { map, of, type Observable } from 'rxjs';
import { keepRefreshed } from '../../../streams';
import { toReason } from '../../platform/errors';

interface FollowNodesDeps extends Pick<MemcachedCountersDeps, 'random' | 'onEvent' | 'resolveSrv'> {
  /** Why no nodes, or no newer ones, are known. */
  readonly onUnresolved: (reason: string) => void;
}

const RETRY = { initialMs: 1_000, maxMs: 10_000, factor: 2, jitter: 0.1 };

/** Emits the nodes when they are known and whenever they have changed. */
export function followNodes(
  deps: FollowNodesDeps,
  list: NodeList,
): Observable<readonly NodeAddress[]> {
  return list.kind === 'list' ? of(list.addresses) : followRecord(deps, list);
}

function followRecord(
  { random, onEvent, onUnresolved, resolveSrv = resolveWithSystem }: FollowNodesDeps,
  { record: store, refreshMs }: NodeList & { readonly kind: 'srv' },
): Observable<readonly NodeAddress[]> {
  const nodes$ = keepRefreshed({
    load: async () => sortNodes(await resolveSrv(store)),
    everyMs: refreshMs,
    backoff: RETRY,
    random,
    isSame: (a, b) => a.map(addressText).join() === b.map(addressText).join(),
    onFailure(error, nextAttemptMs) {
      const reason = toReason(error);
      onUnresolved(reason);
      onEvent?.({ kind: 'unresolved', store, reason, nextAttemptMs });
    },
    onRecovery: () => onEvent?.({ kind: 'resolved', store }),
  });
  return nodes$.pipe(
    map((nodes) => {
      onEvent?.({ kind: 'nodes', store, nodes: nodes.map(addressText) });
      return nodes;
    }),
  );
}

/** Sorted by name with a trailing dot, as existing clients do. */
function sortNodes(
  answer: readonly { readonly name: string; readonly port: number }[],
): readonly NodeAddress[] {
  if (answer.length === 0) throw new Error('the record lists no nodes');
  const textOf = ({ host, port }: NodeAddress) => `${host}.:${String(port)}`;
  return answer
    .map(({ name, port }) => ({ host: name.replace(/\.$/, ''), port }))
    .sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

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
