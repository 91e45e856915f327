import { addressText } from '../../platform/listen-address';
import { map, type Observable } from 'rxjs';
import { createSnapshot, createStopSignal, createStreamGroup } from '../../../streams';
import { EMPTY_REPLY } from '../../core/batches/reply-draft';
import { StoreError } from '../../core/errors';
import { type CounterReading, type Counters, type CounterWriter } from '../../core/ports';
import { toKeyError, unread } from '../count';
import { countBatch } from './count-batch';
import { createNodesInUse, type MemcachedNode, followNodes } from './nodes-in-use';
import { type NodeCounters } from './node-counters';
import { createNodePart, type NodePart } from './node-part';
import {
  type MemcachedCountersDeps,
  type MemcachedCountersOptions,
  type NodeAddress,
} from './options';
import { deleteCommand, faultOfKey, placeOf, setCommand, toExpiry } from './protocol';

export interface MemcachedCounters extends Counters, CounterWriter {
  /** Counters with hits that were answered and are not yet added on their node. */
  readonly pendingKeys: number;
  /** The current count of a key, including its hits not yet added; never rejects. */
  peek(key: string): Promise<CounterReading>;
  /** Whether a node can be used now; distinct. */
  readonly connected$: Observable<boolean>;
  /** Connects, and reconnects, while it is subscribed to; subscribe once. Completes after `close`. */
  readonly run$: Observable<never>;
}

/**
 * Counters in memcached. Counts are read and answered, then the hits are added in the background: hits that others add meanwhile
 * are not seen, so that a limit may be exceeded for a moment. Hits of this process that are not yet added are seen. CRC-32 of a key
 * selects its node.
 */
export function createMemcachedCounters(
  deps: MemcachedCountersDeps,
  options: MemcachedCountersOptions,
): MemcachedCounters {
  const { statistics } = deps;
  const connectionsPerNode = Math.max(1, options.maxIdleConnections ?? 1);
  const connected = createSnapshot(false);
  const stopped = createStopSignal();
  const running = createStreamGroup();
  const leaving = new Set<Promise<void>>();
  let reason = 'not connected yet';
  let isClosed = false;
  let batchesInFlight = 0;
  let resolveIdle: () => void = () => undefined;
  let closing: Promise<void> | undefined;

  const pendingKeys = (): number => {
    let sum = 0;
    for (const { parts } of nodes.open())
      for (const { counters } of parts) sum += counters.writes.size;
    return sum;
  };
  const openConnections = (): number =>
    nodes.current.flatMap(({ parts }) => parts).filter(({ isConnected }) => isConnected()).length;
  const removeGauges = [
    statistics?.gauge('ratelimit.memcache.pending_keys', pendingKeys),
    statistics?.gauge('ratelimit.memcache.cx_active', openConnections),
  ];

  /** At the start each connection of a node was tried: keys are divided among them, and a call on one that opens would fail. */
  const canBeUsed = ({ parts }: MemcachedNode) =>
    parts.some(({ isConnected }) => isConnected()) && parts.every(({ wasTried }) => wasTried());
  const publish = (): void => {
    const isAny = nodes.current.some(canBeUsed);
    if (isAny !== connected.current) connected.set(isAny);
  };
  const onPresence = (): void => {
    if (isClosed) return;
    nodes.presenceChanged();
    publish();
  };
  const isOnlyNode = () => nodes.current.length === 1;
  const openNode = (address: NodeAddress): MemcachedNode => {
    const parts = Array.from({ length: connectionsPerNode }, () =>
      createNodePart(address, { ...deps, onPresence, isOnlyNode }, options),
    );
    for (const part of parts) running.add(part.run$);
    return { text: addressText(address), parts };
  };
  const closeNode = ({ text, parts }: MemcachedNode): void => {
    const gone = Promise.all(parts.map((part) => part.close())).then(() => {
      leaving.delete(gone);
      // After all losses are reported.
      if (!isClosed) deps.onEvent?.({ kind: 'left', store: text });
    });
    leaving.add(gone);
  };
  const waits = options.nodes.kind === 'srv';
  const nodes = createNodesInUse({ openNode, closeNode }, { waits });

  const onUnresolved = (why: string): void => {
    reason = why;
  };
  const nodes$ = followNodes({ ...deps, onUnresolved }, options.nodes);
  running.add(
    nodes$.pipe(
      stopped.until(),
      map((addresses) => {
        nodes.list(addresses);
        publish();
      }),
    ),
  );

  const countersOf = (key: string): NodeCounters => {
    const { current } = nodes;
    const { node, connection } = placeOf(key, current.length, connectionsPerNode);
    return ((current[node] as MemcachedNode).parts[connection] as NodePart).counters;
  };

  const order = (key: string, command: string): Promise<StoreError | undefined> => {
    if (isClosed || nodes.current.length === 0) return Promise.resolve(unavailable(noNode(reason)));
    const fault = faultOfKey(key);
    if (fault !== undefined) return Promise.resolve(toKeyError(fault));
    return new Promise((resolve) => {
      countersOf(key).order(command, resolve);
    });
  };

  const closeAll = async (): Promise<void> => {
    isClosed = true;
    stopped.stop();
    if (batchesInFlight > 0) await new Promise<void>((resolve) => (resolveIdle = resolve));
    for (const node of nodes.open()) closeNode(node);
    await Promise.all(leaving);
    for (const remove of removeGauges) remove?.();
    connected.close();
    running.close();
  };

  return {
    connected$: connected.changes$,
    run$: running.run$,
    get pendingKeys() {
      return pendingKeys();
    },
    close: () => (closing ??= closeAll()),
    peek(key) {
      if (isClosed || nodes.current.length === 0) {
        const why = isClosed ? 'the service is stopping' : noNode(reason);
        return Promise.resolve(unread('memcached', unavailable(why)));
      }
      const fault = faultOfKey(key);
      const { node } = placeOf(key, nodes.current.length, connectionsPerNode);
      const store = `memcached at ${nodes.current[node]?.text ?? ''}`;
      if (fault !== undefined) return Promise.resolve(unread(store, toKeyError(fault)));
      return new Promise((resolve) => {
        countersOf(key).peek([key], (counts) => {
          const count = counts instanceof StoreError ? counts : (counts.get(key) ?? 0);
          if (count instanceof StoreError) resolve(unread(store, count));
          else resolve({ count: Number(count), expiresInSeconds: undefined, store });
        });
      });
    },
    remove: (counters) => Promise.all(counters.map(({ key }) => order(key, deleteCommand(key)))),
    set: (counters, used, nowSeconds) =>
      Promise.all(
        counters.map(({ key, ttlSeconds }) =>
          order(key, setCommand(key, used, toExpiry(ttlSeconds, nowSeconds))),
        ),
      ),
    add(batch) {
      if (isClosed) return Promise.reject(unavailable('the service is stopping'));
      if (batch.increments.length === 0) return Promise.resolve(EMPTY_REPLY);
      if (nodes.current.length === 0) return Promise.reject(unavailable(noNode(reason)));
      batchesInFlight += 1;
      return new Promise((resolve, reject) => {
        countBatch(batch, countersOf, (reply) => {
          batchesInFlight -= 1;
          if (batchesInFlight === 0) resolveIdle();
          if (reply instanceof StoreError) reject(reply);
          else resolve(reply);
        });
      });
    },
  };
}

function noNode(reason: string): string {
  return `no memcached node is known: ${reason}`;
}

function unavailable(message: string): StoreError {
  return new StoreError('store_unavailable', message);
}
