import { type Random, type Statistics } from '../../core/ports';
import type { Address } from '../../platform/env-table/addresses';
import type { ClientTlsFiles } from '../../platform/tls-files';
import { type ConnectionEvent } from '../connection/kept-connection';

export type NodeAddress = Address;

/** Every instance needs the same list in the same order: a key's node is an index of it. */
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
  /** Connections per node, at least one; a key always uses the same. */
  readonly maxIdleConnections?: number;
  /** Files are read anew for every connection, so that renewed certificates need no restart. */
  readonly tls?: ClientTlsFiles | undefined;
  /** Every batch settles within this time, counted from its `add`. */
  readonly timeoutMs: number;
  /** First and maximal wait between attempts to connect. */
  readonly initialIntervalMs?: number;
  readonly maxIntervalMs?: number;
}

/** The nodes' events, for a log. */
export type MemcachedEvent = ConnectionEvent | ({ readonly store: string } & StoreEvent);

type StoreEvent =
  | { readonly kind: 'connected' }
  /** The SRV record lists these nodes now. */
  | { readonly kind: 'nodes'; readonly nodes: readonly string[] }
  /** The SRV record does not list this node any more. */
  | { readonly kind: 'left' }
  /** The SRV record could not be read; the known nodes stay in use. */
  | { readonly kind: 'unresolved'; readonly reason: string; readonly nextAttemptMs: number }
  /** The SRV record could be read again. */
  | { readonly kind: 'resolved' }
  /**
   * Hits that were answered but could not be added since the previous event, with the latest reason. At most once a second for each
   * connection.
   */
  | { readonly kind: 'not-added'; readonly reason: string; readonly hits: number }
  /** Hits were added again after a loss. */
  | { readonly kind: 'added-again' };

export interface MemcachedCountersDeps {
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics?: Pick<Statistics, 'gauge' | 'count'>;
  readonly onEvent?: (event: MemcachedEvent) => void;
  /** Resolves an SRV record; the system's resolver when undefined. */
  readonly resolveSrv?: (
    record: string,
  ) => Promise<readonly { readonly name: string; readonly port: number }[]>;
}
