import { map, merge, of, timer } from 'rxjs';
import { createStopSignal, createStreamGroup } from '../../../streams';
import { StoreError } from '../../core/errors';
import { createNode, type RedisNode } from './node';
import { toAddressText, type NodeOptions, type RedisAddress } from './options';
import { type PoolDeps } from './pool';
import { toGivenUpError } from './store-errors';

export interface NodeSetDeps extends PoolDeps {
  /** The store's name in messages. */
  readonly store: string;
  /** A server was connected or lost, or could not be connected to. */
  readonly onChange: () => void;
  /** Why there is no connection to any server. */
  readonly reason: () => string;
}

interface Member {
  readonly node: RedisNode;
  isConnected: boolean;
}

/** Time for a server that is left to answer pending calls. */
const GRACE_MS = 500;

const CLOSED = 'the service is stopping';

/** A changing set of servers of one store. */
export function createNodeSet(deps: NodeSetDeps, options: Omit<NodeOptions, 'address'>) {
  const { store, onChange, reason } = deps;
  const { startupMaxElapsedMs = 0 } = options;
  const members = new Map<string, Member>();
  const leaving = new Set<Promise<void>>();
  const running = createStreamGroup();
  const firstConnected = createStopSignal();
  let closing: Promise<void> | undefined;

  const add = (name: string, address: RedisAddress): RedisNode => {
    const onPresence = (isConnected: boolean): void => {
      if (members.get(name) !== member) return;
      member.isConnected = isConnected;
      if (isConnected) firstConnected.stop();
      onChange();
    };
    const node = createNode(
      { ...deps, onPresence },
      { ...options, address, waitsForFirstConnection: true, startupMaxElapsedMs: 0 },
    );
    const member = { node, isConnected: false };
    members.set(name, member);
    running.add(node.run$);
    return node;
  };
  const leave = (name: string, why: string, graceMs?: number): void => {
    const gone = members.get(name)?.node.close(why, graceMs);
    members.delete(name);
    if (gone === undefined) return;
    if (closing === undefined) deps.onEvent?.({ kind: 'left', store: name });
    leaving.add(gone);
    void gone.finally(() => leaving.delete(gone));
  };
  const closeAll = async (): Promise<void> => {
    firstConnected.stop();
    for (const name of members.keys()) leave(name, CLOSED);
    await Promise.all(leaving);
    running.close();
  };

  const giveUp$ = (startupMaxElapsedMs > 0 ? timer(startupMaxElapsedMs) : of()).pipe(
    firstConnected.until(),
    map((): never => {
      throw toGivenUpError(store, startupMaxElapsedMs, reason());
    }),
  );

  return {
    get nodes() {
      return [...members.values()].map(({ node }) => node);
    },
    /** At least one of them has a connection. */
    get isConnected() {
      return [...members.values()].some(({ isConnected }) => isConnected);
    },
    /**
     * Connects to every server while it is subscribed to; subscribe once. Completes after `close`; fails with a StoreError when no
     * first connection is established within `startupMaxElapsedMs`.
     */
    run$: merge(running.run$, giveUp$),
    /** The server at an address, which from now on belongs to the set. */
    node(address: RedisAddress) {
      if (closing !== undefined) throw new StoreError('store_unavailable', CLOSED);
      const name = toAddressText(address);
      return members.get(name)?.node ?? add(name, address);
    },
    /** Leaves the others: their calls that are not answered within a moment fail. */
    keepOnly(nodes: ReadonlySet<RedisNode>) {
      for (const [name, { node }] of members)
        if (!nodes.has(node)) leave(name, 'it no longer belongs to the store', GRACE_MS);
    },
    close: () => (closing ??= closeAll()),
  };
}

export type NodeSet = ReturnType<typeof createNodeSet>;
