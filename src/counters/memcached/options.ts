import { type Random, type Statistics } from '../../core/ports';
import type { Address } from '../../platform/env-table/addresses';
import type { ClientTlsFiles } from '../../platform/tls-files';
import { type ConnectionEvent } from '../connection/kept-connection';

export type NodeAddress = Address;

/** Every instance needs the same list in the same order: a key's node is its place in it. */
export type NodeList =
  | { readonly kind: 'list'; readonly addresses: readonly NodeAddress[] }
  | {
      readonly kind: 'srv';
      /** The name of the record: `_memcached._tcp.example.com`. */
      readonly record: string;
      /** Interval for resolving the record; 0: once. */
      readonly refreshMs: number;
    };

export interface MemcachedCountersOptions {
  readonly nodes: NodeList;
  /** Connections kept for each node, at least one; a key always takes the same. */
  readonly maxIdleConnections?: number;
  /** Files are read again for every new connection, so that renewed certificates need no restart. */
  readonly tls?: ClientTlsFiles | undefined;
  /** Every batch settles within this time, counted from its `add`. */
  readonly timeoutMs: number;
  /** Wait before a second attempt to connect, and how far it may grow. */
  readonly initialIntervalMs?: number;
  readonly maxIntervalMs?: number;
}

/** What happens to the nodes, for a log. */
export type MemcachedEvent = ConnectionEvent | ({ readonly store: string } & StoreEvent);

type StoreEvent =
  | { readonly kind: 'connected' }
  /** The SRV record names these nodes from now on. */
  | { readonly kind: 'nodes'; readonly nodes: readonly string[] }
  /** The SRV record names this node no longer. */
  | { readonly kind: 'left' }
  /** The SRV record could not be read; the nodes from before stay in use. */
  | { readonly kind: 'unresolved'; readonly reason: string; readonly nextAttemptMs: number }
  /** The SRV record could be read again. */
  | { readonly kind: 'resolved' }
  /**
   * So many hits that were answered could not be added since the event before, the last of them for this reason. At most once a
   * second for each connection.
   */
  | { readonly kind: 'not-added'; readonly reason: string; readonly hits: number }
  /** After that, hits were added again. */
  | { readonly kind: 'added-again' };

export interface MemcachedCountersDeps {
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics?: Pick<Statistics, 'gauge' | 'count'>;
  readonly onEvent?: (event: MemcachedEvent) => void;
  /** Resolves an SRV record; the system's resolver when undefined. */
  readonly resolveSrv?: (
    record: string,
  ) => Promise<readonly { readonly name: string; readonly port: number }[]>;
}
