import { type Observable } from 'rxjs';
import { createSnapshot, createStopSignal, fromTask } from '../../../streams';
import { StoreError } from '../../core/errors';
import { type CounterReply, type Counters } from '../../core/ports';
import { countBatch } from './count-batch';
import { placeOf } from './key';
import { createLane } from './lane';
import { createLaneCounts, type LaneCounts } from './lane-counts';
import { createNodes } from './nodes';
import {
  type MemcachedCountersDeps,
  type MemcachedCountersOptions,
  type NodeAddress,
  toNodeText,
} from './options';
import { createNodeErrors } from './store-errors';

export interface MemcachedCounters extends Counters {
  /** Counters with hits that were answered and are still on their way to their node. */
  readonly pendingKeys: number;
  /** Whether a node can be used now; distinct. */
  readonly connected$: Observable<boolean>;
  /** Connects, and connects again, while it is subscribed to; subscribe once. Completes after `close`. */
  readonly run$: Observable<never>;
}

/** The lanes to one node. */
type Node = readonly LaneCounts[];

const EMPTY_REPLY: CounterReply = { after: [], held: undefined, failures: undefined };

const DEFAULT_INTERVAL_MS = 1_000;

/** Hits that could not be added are told of at most once in this time. */
const TELL_EVERY_MS = 1_000;

/**
 * Counters in memcached. Counts are read and answered, then the hits are added in the background: what
 * others add meanwhile is not seen, so that a limit may be passed for a moment. Hits of this process
 * that are on their way are seen. A key lies on the node that CRC-32 names.
 */
export function createMemcachedCounters(
  deps: MemcachedCountersDeps,
  options: MemcachedCountersOptions,
): MemcachedCounters {
  const { monotonicMs, onEvent, statistics } = deps;
  const { initialIntervalMs = DEFAULT_INTERVAL_MS, maxIntervalMs = DEFAULT_INTERVAL_MS } = options;
  const connectionsPerNode = Math.max(1, options.maxIdleConnections ?? 1);
  const connected = createSnapshot(false);
  const ended = createStopSignal();
  const running = new Set<Promise<unknown>>();
  const byAddress = new Map<string, Node>();
  let nodes: readonly Node[] = [];
  let reason = 'not connected yet';
  let isClosed = false;
  let batchesInFlight = 0;
  let tellIdle: () => void = () => undefined;
  let closing: Promise<void> | undefined;

  const pendingKeys = (): number => {
    let sum = 0;
    for (const node of byAddress.values()) for (const { adds } of node) sum += adds.size;
    return sum;
  };
  const openConnections = (): number => {
    let sum = 0;
    for (const node of nodes) for (const { lane } of node) if (lane.link !== undefined) sum += 1;
    return sum;
  };
  const removeGauges = [
    statistics?.gauge('ratelimit.memcache.pending_keys', pendingKeys),
    statistics?.gauge('ratelimit.memcache.cx_active', openConnections),
  ];

  const tellConnected = (): void => {
    const isAny = nodes.some((node) => node.some(({ lane }) => lane.link !== undefined));
    if (isAny !== connected.current && !isClosed) connected.set(isAny);
  };

  const keepRunning = (task: Promise<unknown>): void => {
    const done = task.finally(() => running.delete(done));
    running.add(done);
  };

  const openLane = (address: NodeAddress): LaneCounts => {
    const store = toNodeText(address);
    const lane = createLane(
      {
        ...deps,
        errors: createNodeErrors(store, () => nodes.length === 1),
        onChange: tellConnected,
      },
      { ...options, tls: options.tls, address, initialIntervalMs, maxIntervalMs },
    );
    keepRunning(lane.run());
    let toldMs = -Infinity;
    const onNotAdded = ({ message }: StoreError): void => {
      if (monotonicMs() - toldMs < TELL_EVERY_MS) return;
      toldMs = monotonicMs();
      onEvent?.({ kind: 'not-added', store, reason: message });
    };
    return createLaneCounts(lane, { statistics, onNotAdded });
  };

  const takeNodes = (addresses: readonly NodeAddress[]): void => {
    const texts = addresses.map(toNodeText);
    for (const [at, address] of addresses.entries()) {
      const text = texts[at] as string;
      if (byAddress.has(text)) continue;
      const lanes = Array.from({ length: connectionsPerNode }, () => openLane(address));
      byAddress.set(text, lanes);
    }
    nodes = texts.map((text) => byAddress.get(text) as Node);
    for (const [text, node] of byAddress) {
      if (texts.includes(text)) continue;
      byAddress.delete(text);
      for (const { lane } of node) keepRunning(lane.close());
    }
    tellConnected();
  };

  const list = createNodes(
    {
      ...deps,
      onNodes: takeNodes,
      onUnresolved: (why) => {
        reason = why;
      },
    },
    options.nodes,
  );

  const laneOf = (key: string): LaneCounts => {
    const { node, connection } = placeOf(key, nodes.length, connectionsPerNode);
    return (nodes[node] as Node)[connection] as LaneCounts;
  };

  const closeAll = async (): Promise<void> => {
    isClosed = true;
    list.stop();
    if (batchesInFlight > 0) await new Promise<void>((resolve) => (tellIdle = resolve));
    const lanes = [...byAddress.values()].flat();
    await Promise.all(lanes.map(({ lane }) => lane.close()));
    await Promise.all(running);
    for (const remove of removeGauges) remove?.();
    connected.close();
    ended.stop();
  };
  const close = (): Promise<void> => (closing ??= closeAll());

  const run$ = fromTask<never>((signal) => {
    signal.addEventListener('abort', () => void close());
    keepRunning(list.run());
    return new Promise<undefined>(() => undefined);
  }).pipe(ended.until());

  return {
    connected$: connected.changes$,
    run$,
    get pendingKeys() {
      return pendingKeys();
    },
    close,
    add(batch) {
      if (isClosed) return Promise.reject(unavailable('the memcached counters are closed'));
      if (batch.increments.length === 0) return Promise.resolve(EMPTY_REPLY);
      if (nodes.length === 0)
        return Promise.reject(unavailable(`no memcached node is known: ${reason}`));
      batchesInFlight += 1;
      return new Promise((resolve, reject) => {
        countBatch(batch, laneOf, (reply) => {
          batchesInFlight -= 1;
          if (batchesInFlight === 0) tellIdle();
          if (reply instanceof StoreError) reject(reply);
          else resolve(reply);
        });
      });
    },
  };
}

function unavailable(message: string): StoreError {
  return new StoreError('store_unavailable', message);
}
