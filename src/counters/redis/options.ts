import { type Observable } from 'rxjs';
import { type Clock, type CounterReading, type Random, type Statistics } from '../../core/ports';
import { type CredentialsSource } from '../../platform/credentials-source';
import { type Address, type StoreAddress } from '../../platform/env-table/addresses';
import { addressText } from '../../platform/listen-address';
import { type ClientTlsFiles } from '../../platform/tls-files';
import { type ConnectionEvent } from '../connection/kept-connection';
import { type ReadableCounters } from '../split';
import { type PlainCommand } from './pipeline';
import { type TypeSetting } from './wrong-kind';

/** Counters in Redis, their connection state, and their background work. */
export interface RedisCounters extends ReadableCounters {
  /** The fields of a hash, null where there is none; rejects with a StoreError when it cannot be read. */
  readonly readFields: ReadHashFields;
  /** The current reading of each key, with its time to live; creates nothing and never rejects. */
  peek(keys: readonly string[]): Promise<ReadonlyMap<string, CounterReading>>;
  /** Sends commands about one key to its server, in order; rejects with the StoreError of the first that failed. */
  send(key: string, commands: readonly PlainCommand[]): Promise<readonly unknown[]>;
  /** A server refuses scripts now, although the settings ask for them. */
  readonly lacksScripts: () => boolean;
  /** A server that broadcasts messages to all others of the store; undefined: none is known now. */
  readonly anyServer: () => RedisAddress | undefined;
  /** Publishes to the local caches of all instances that they must drop these keys; undefined: no message reaches them. */
  readonly publishInvalidation?: (keys: readonly string[], endsLeases?: boolean) => void;
  /** Whether the store can be used now; of several servers, at least one. Distinct. */
  readonly connected$: Observable<boolean>;
  /**
   * Connects, and reconnects, while it is subscribed to; subscribe once. Completes after `close`; fails with a StoreError when no
   * first connection is established within `startupMaxElapsedMs`.
   */
  readonly run$: Observable<never>;
}

export type ReadHashFields = (
  key: string,
  fields: readonly string[],
) => Promise<readonly (string | null)[]>;

export type HostAndPort = Address;

export type RedisAddress = Extract<StoreAddress, { readonly kind: 'tcp' | 'unix' }>;

/** The number of connections to a server, and what happens to a batch that finds none free. */
export interface PoolOptions {
  /** Pool size; all connections but the first are opened when they are needed. */
  readonly size: number;
  /**
   * After `onEmptyWaitMs` without a free connection: `create` opens one beyond the size, `error` fails the batch; `wait` keeps
   * waiting. No batch waits longer than the store's time-out.
   */
  readonly onEmpty: 'create' | 'error' | 'wait';
  readonly onEmptyWaitMs: number;
}

/** Options of every server of a store. */
export interface ServerOptions {
  /** Without a name the server's default user. */
  readonly auth?: CredentialsSource | undefined;
  /** Selected on every connection; 0 when undefined. */
  readonly database?: number;
  /** Files are read anew for every connection, so that renewed certificates need no restart. */
  readonly tls?: ClientTlsFiles | undefined;
  /** Every batch settles within this time, counted from its `add`. */
  readonly timeoutMs: number;
  /** False: never use scripts; otherwise they are used unless the server refuses them. */
  readonly scripts?: boolean;
  /** First and maximal wait between attempts to connect. */
  readonly startupInitialMs?: number;
  readonly startupMaxMs?: number;
  /** Time limit of the first connection before `run$` fails; 0: none. */
  readonly startupMaxElapsedMs?: number;
  readonly pool?: PoolOptions;
  /** The setting for the kind of store, for messages. Default: KVSTORE_TYPE. */
  readonly typeSetting?: TypeSetting;
}

export interface RedisCountersOptions extends ServerOptions {
  readonly address: StoreAddress;
  /** Credentials and TLS for sentinels, independent of `auth` and `tls`. */
  readonly sentinelAuth?: CredentialsSource | undefined;
  readonly sentinelTls?: ClientTlsFiles | undefined;
  /** Nodes of a cluster that are called at the same time; 0: all. */
  readonly clusterParallelism?: number;
  /** The channel for keys that local caches must drop. */
  readonly forgetChannel?: string;
  /** Prefix of the pool's statistics. */
  readonly statisticsPrefix?: string;
}

export interface NodeOptions extends ServerOptions {
  readonly address: RedisAddress;
  /** Part of a cluster: scripts get their keys as arguments, because they are in several slots. */
  readonly isClusterNode?: boolean;
  /** Named by sentinels: not used while it says that it is a replica. */
  readonly mustBeMaster?: boolean;
  /** Batches wait for the first connection while it is being opened, instead of failing at once. */
  readonly waitsForFirstConnection?: boolean;
}

/** The store's events, for a log. Reasons never contain a credential. */
export type RedisEvent =
  | { readonly kind: 'connected'; readonly store: string; readonly usesScripts: boolean }
  | ConnectionEvent
  /** The store refuses scripts (a proxy, an access list): plain commands are used. */
  | { readonly kind: 'scripts-refused'; readonly store: string; readonly reason: string }
  /** It accepts them again, and they are used. */
  | { readonly kind: 'scripts-taken'; readonly store: string }
  /** Once, until a new connection may use EXPIRE: counters would never expire. */
  | { readonly kind: 'expire-refused'; readonly store: string; readonly reason: string }
  /**
   * The server is not what the settings say; `advice` names the setting to change, and no address. `isUsed`: it counts what it can;
   * otherwise `unreachable` reports the same.
   */
  | {
      readonly kind: 'misplaced';
      readonly store: string;
      readonly reason: string;
      readonly advice: string;
      readonly isUsed: boolean;
    }
  /** The server is what the settings say. */
  | { readonly kind: 'placed'; readonly store: string }
  /** Once: increments are held back by a read and then an add, and why. */
  | { readonly kind: 'hold-back-not-atomic'; readonly store: string; readonly reason: string }
  /** Once: increments of a kind that needs scripts fail. */
  | { readonly kind: 'scripts-needed'; readonly store: string; readonly reason: string }
  /** The clock of the server and ours differ by seconds; repeated from time to time, and once when they agree. */
  | { readonly kind: 'clock-differs'; readonly store: string; readonly reason: string }
  | { readonly kind: 'clock-agrees'; readonly store: string }
  /** Another connection could not be opened; the others stay in use. */
  | { readonly kind: 'pool-not-grown'; readonly store: string; readonly reason: string }
  /** The sentinels name another master than before, or the first. */
  | { readonly kind: 'master-changed'; readonly store: string; readonly master: string }
  /** A sentinel does not name the master; once, and once when it does again. */
  | { readonly kind: 'sentinel-failed'; readonly store: string; readonly reason: string }
  | { readonly kind: 'sentinel-works'; readonly store: string }
  /** Once: a sentinel refuses listeners, so that a failover is noticed only by polling. */
  | { readonly kind: 'switch-unheard'; readonly store: string; readonly reason: string }
  /** Slots of the cluster have other owners than before, or their first. */
  | { readonly kind: 'slots-changed'; readonly store: string; readonly nodes: readonly string[] }
  /** No node returned the slot map; once, and once when one does again. */
  | { readonly kind: 'slots-unknown'; readonly store: string; readonly reason: string }
  | { readonly kind: 'slots-known'; readonly store: string }
  /** A server no longer belongs to the store. */
  | { readonly kind: 'left'; readonly store: string }
  /** Nodes of the cluster redirect to addresses that are not among its nodes; once, and once when none does any more. */
  | { readonly kind: 'redirects-astray'; readonly store: string; readonly reason: string }
  | { readonly kind: 'redirects-followed'; readonly store: string }
  /** Once: messages to the local caches cannot be sent or received. */
  | { readonly kind: 'forget-refused'; readonly store: string; readonly reason: string };

/**
 * Called with the keys of counters to drop (digests of long ones); undefined: messages may have been missed, or there are too many.
 * `endsLeases`: they were reset or set.
 */
export type OnForget = (keys: readonly string[] | undefined, endsLeases: boolean) => void;

export interface RedisCountersDeps {
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number;
  readonly random: Random;
  /** The time of day of this process, for comparison with each server's; undefined: they are not compared. */
  readonly clock?: Clock;
  readonly statistics?: Pick<Statistics, 'gauge' | 'count'>;
  readonly onEvent?: (event: RedisEvent) => void;
  /** Undefined: local caches and leases receive nothing. */
  readonly onForget?: OnForget | undefined;
  /** Listening starts when it is true; undefined: at once. Ends with the counters. */
  readonly forgetWhen$?: Observable<boolean> | undefined;
  /** Guards one node of a cluster (a circuit breaker): while that is unreachable, the others are used as before. */
  readonly guardNode?: (store: string) => NodeGuard;
}

/** Passes a call to a node, or fails it at once. */
export type NodeGuard = <T>(ask: () => Promise<T>) => Promise<T>;

/** Whether a server can listen there. */
export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** The address in messages. */
export function toAddressText(address: StoreAddress): string {
  switch (address.kind) {
    case 'unix':
      return address.path;
    case 'tcp':
      return addressText(address);
    case 'sentinel':
      return `master ${address.masterName} of the sentinels ${toListText(address.sentinels)}`;
    case 'cluster':
      return `cluster ${toListText(address.nodes)}`;
  }
}

function toListText(addresses: readonly HostAndPort[]): string {
  return addresses.map(addressText).join(',');
}
