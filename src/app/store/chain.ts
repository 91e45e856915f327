import type { Counters, ReadyCounters } from '../../core/ports';
import { createPerSecondSplit, type ReadableCounters } from '../../counters/split';

/** Counters that answer a batch themselves, or pass it on. */
export type Link<C extends ReadyCounters = Counters> = (next: Counters) => C;

/** Between a decision and its store. Undefined: not in use. A batch passes from the first to the last. */
export interface StoreChain {
  /** Answers from hits that were charged in advance. */
  readonly leases: Link<ReadyCounters> | undefined;
  /** Answers for counters known to be over their limit, or blocked. */
  readonly overLimitCache: Link | undefined;
  /** Two where per-second limits have a store of their own. */
  readonly servers: ServerChain | SplitServers;
}

/** One server, the master that sentinels name, a cluster, the nodes of memcached, or memory. */
export interface ServerChain {
  /** Fails at once while the store is unreachable. In a cluster each node has one, which the client calls. */
  readonly breaker: Link | undefined;
  /** Gathers the batches of a window into one. */
  readonly pipelineWindow: Link | undefined;
  /** Observes how long the store takes. */
  readonly timer: Link | undefined;
  readonly client: Counters;
}

export interface ReadableServerChain extends ServerChain {
  readonly client: ReadableCounters;
}

export interface SplitServers {
  readonly others: ReadableServerChain;
  readonly perSecond: ReadableServerChain;
  /** See `createPerSecondSplit`. */
  readonly onNotAtomic: () => void;
}

/** The counters that decisions use. */
export function chainCounters({ leases, overLimitCache, servers }: StoreChain): ReadyCounters {
  const shared = chain([overLimitCache], 'client' in servers ? toServer(servers) : toBoth(servers));
  return leases?.(shared) ?? shared;
}

function toBoth({ others, perSecond, onNotAtomic }: SplitServers): Counters {
  return createPerSecondSplit({
    others: { counters: toServer(others), read: others.client.read },
    perSecond: { counters: toServer(perSecond), read: perSecond.client.read },
    onNotAtomic,
  });
}

function toServer({ breaker, pipelineWindow, timer, client }: ServerChain): Counters {
  return chain([breaker, pipelineWindow, timer], client);
}

function chain(links: readonly (Link | undefined)[], client: Counters): Counters {
  return links.reduceRight((next, link) => link?.(next) ?? next, client);
}
