import { lastValueFrom, Observable } from 'rxjs';
import { StoreError } from '../../core/errors';
import { toAddressText, type RedisAddress } from './address';
import { toGivenUpError } from './connection';
import { createNode, type Node } from './node';
import { type NodeOptions } from './options';
import { type PoolDeps } from './pool';

/** Servers that come and go while a store is used. */
export interface Fleet {
  readonly nodes: readonly Node[];
  /** At least one of them has a connection. */
  readonly isConnected: boolean;
  /**
   * Connects to every server while it is subscribed to; subscribe once. Completes after `close`; fails
   * with a StoreError when no first connection comes about within `startupMaxElapsedMs`.
   */
  readonly run$: Observable<never>;
  /** The server at an address, which from now on belongs to the fleet. */
  node(address: RedisAddress): Node;
  /** Leaves the others: what they have not answered within a moment fails. */
  keepOnly(nodes: ReadonlySet<Node>): void;
  close(): Promise<void>;
}

export interface FleetDeps extends PoolDeps {
  /** The store's name in messages. */
  readonly store: string;
  /** A server came, or went or did not come. */
  readonly onChange: () => void;
  /** Why there is no connection to any server. */
  readonly reason: () => string;
}

/** A server that is left gets this long for what it has not answered. */
const GRACE_MS = 500;

const CLOSED = 'the counters are closed';

export function createFleet(deps: FleetDeps, options: Omit<NodeOptions, 'address'>): Fleet {
  const { store, onChange, reason } = deps;
  const members = new Map<string, { readonly node: Node; isThere: boolean }>();
  const leaving = new Set<Promise<void>>();
  const { startupMaxElapsedMs = 0 } = options;
  let isRunning = false;
  let closing: Promise<void> | undefined;
  let onFirstConnection: () => void = () => undefined;
  let onClosed: () => void = () => undefined;

  const launch = ({ run$ }: Node): void => {
    if (isRunning) void lastValueFrom(run$, { defaultValue: undefined });
  };
  const leave = (name: string, node: Node, why: string, graceMs?: number): void => {
    members.delete(name);
    const gone = node.close(why, graceMs).finally(() => leaving.delete(gone));
    leaving.add(gone);
  };
  const add = (name: string, address: RedisAddress): Node => {
    const onPresence = (isThere: boolean): void => {
      const member = members.get(name);
      if (member?.node !== node) return;
      member.isThere = isThere;
      if (isThere) onFirstConnection();
      onChange();
    };
    const node = createNode(
      { ...deps, onPresence },
      { ...options, address, isPatient: true, startupMaxElapsedMs: 0 },
    );
    members.set(name, { node, isThere: false });
    launch(node);
    return node;
  };
  const settle = async (): Promise<void> => {
    for (const [name, { node }] of members) leave(name, node, CLOSED);
    await Promise.all(leaving);
    onClosed();
  };

  const run$ = new Observable<never>((subscriber) => {
    isRunning = true;
    onClosed = () => {
      subscriber.complete();
    };
    const giveUp = (): void => {
      subscriber.error(toGivenUpError(store, startupMaxElapsedMs, reason()));
    };
    const timer = startupMaxElapsedMs > 0 ? setTimeout(giveUp, startupMaxElapsedMs) : undefined;
    onFirstConnection = () => {
      clearTimeout(timer);
    };
    if (closing !== undefined) void closing.then(onClosed);
    for (const { node } of members.values()) launch(node);
    return () => {
      isRunning = false;
      clearTimeout(timer);
      for (const [name, { node }] of members)
        leave(name, node, 'the counters are no longer run', 0);
    };
  });

  return {
    get nodes() {
      return [...members.values()].map(({ node }) => node);
    },
    get isConnected() {
      return [...members.values()].some(({ isThere }) => isThere);
    },
    run$,
    node(address) {
      if (closing !== undefined) throw new StoreError('store_unavailable', CLOSED);
      const name = toAddressText(address);
      return members.get(name)?.node ?? add(name, address);
    },
    keepOnly(nodes) {
      for (const [name, { node }] of members)
        if (!nodes.has(node)) leave(name, node, 'it no longer belongs to the store', GRACE_MS);
    },
    close: () => (closing ??= settle()),
  };
}
