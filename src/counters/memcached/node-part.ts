import { addressText } from '../../platform/listen-address';
import { createKeptConnection } from '../connection/kept-connection';
import type { MemcachedConnection } from './connection';
import { createLostHits } from './lost-hits';
import { createNodeCounters } from './node-counters';
import { openMemcachedConnection } from './open-connection';
import {
  type MemcachedCountersDeps,
  type MemcachedCountersOptions,
  type NodeAddress,
} from './options';
import { createNodeErrors } from './store-errors';

interface NodePartDeps extends MemcachedCountersDeps {
  /** The connection was opened or lost. */
  readonly onPresence: () => void;
  readonly isOnlyNode: () => boolean;
}

const CLOSED = 'the service is stopping';

/** One of the connections to a node, with its counters. */
export function createNodePart(
  address: NodeAddress,
  deps: NodePartDeps,
  options: MemcachedCountersOptions,
) {
  const { monotonicMs, onEvent, onPresence, statistics } = deps;
  const { timeoutMs, tls } = options;
  const store = addressText(address);
  const errors = createNodeErrors(store, deps.isOnlyNode);
  let wasConnected = false;
  let wasTried = false;
  const kept = createKeptConnection<MemcachedConnection>(
    {
      ...deps,
      onEvent,
      store,
      open: (attemptMs, signal) =>
        openMemcachedConnection({
          address,
          tls,
          errors,
          timeoutMs,
          monotonicMs,
          attemptMs,
          signal,
        }),
      onOpen() {
        onEvent?.({ kind: 'connected', store });
        wasConnected = wasTried = true;
        onPresence();
      },
      onAway() {
        wasTried = true;
        onPresence();
      },
      onEnd: () => kept.current?.destroy(CLOSED),
    },
    { timeoutMs, initialMs: options.initialIntervalMs, maxMs: options.maxIntervalMs },
  );
  const lostHits = createLostHits(store, onEvent);
  const counters = createNodeCounters(
    { kept, errors },
    { statistics, onNotAdded: lostHits.lost, onAdded: lostHits.added },
  );
  return {
    counters,
    isConnected: () => kept.current !== undefined,
    /** At least once. */
    wasConnected: () => wasConnected,
    /** It was connected, or an attempt has failed. */
    wasTried: () => wasTried,
    /** Connects, and reconnects, while it is subscribed to. */
    run$: kept.run$,
    /** Waits for pending replies, then disconnects. */
    async close() {
      kept.stop(CLOSED);
      const { current } = kept;
      current?.endWhenIdle();
      await current?.retired;
      lostHits.close();
      kept.end();
    },
  };
}

export type NodePart = ReturnType<typeof createNodePart>;
