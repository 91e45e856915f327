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

/** Counters in Redis, whether they can be used, and what they do by themselves. */
export interface RedisCounters extends ReadableCounters {
  /** The fields of a hash, null where there is none; rejects with a StoreError when it cannot be read. */
  readonly readFields: ReadHashFields;
  /** Every one of these keys as it stands, with its time to live; creates nothing and never rejects. */
  look(keys: readonly string[]): Promise<ReadonlyMap<string, CounterReading>>;
  /** Sends commands about one key to its server, in order; rejects with the StoreError of the first that failed. */
  ask(key: string, commands: readonly PlainCommand[]): Promise<readonly unknown[]>;
  /** A server takes no scripts now, although they are wanted. */
  readonly lacksScripts: () => boolean;
  /** A server that passes messages to all others of the store; undefined: none is known now. */
  readonly anyServer: () => RedisAddress | undefined;
  /** Tells the local caches of all instances to forget these keys; undefined: no message reaches them. */
  readonly publishInvalidation?: (keys: readonly string[], endsLeases?: boolean) => void;
  /** Whether the store can be used now; of several servers, at least one. Distinct. */
  readonly connected$: Observable<boolean>;
  /**
   * Connects, and connects again, while it is subscribed to; subscribe once. Completes after `close`;
   * fails with a StoreError when no first connection comes about within `startupMaxElapsedMs`.
   */
  readonly run$: Observable<never>;
}

export type ReadHashFields = (
  key: string,
  fields: readonly string[],
) => Promise<readonly (string | null)[]>;

export type HostAndPort = Address;

export type RedisAddress = Extract<StoreAddress, { readonly kind: 'tcp' | 'unix' }>;

/** How many connections to a server there are, and what a batch does that finds none free. */
export interface PoolOptions {
  /** Connections that are kept; all but the first are opened when they are needed. */
  readonly size: number;
  /**
   * After `onEmptyWaitMs` without a free connection: `create` opens one beyond the size, `error` fails
   * the batch; `wait` goes on waiting. None waits longer than the store's time-out.
   */
  readonly onEmpty: 'create' | 'error' | 'wait';
  readonly onEmptyWaitMs: number;
}

/** What holds for every server of a store. */
export interface ServerOptions {
  /** Without a name the server's default user. */
  readonly auth?: CredentialsSource | undefined;
  /** Selected on every connection; 0 when undefined. */
  readonly database?: number;
  /** Files are read again for every new connection, so that renewed certificates need no restart. */
  readonly tls?: ClientTlsFiles | undefined;
  /** Every batch settles within this time, counted from its `add`. */
  readonly timeoutMs: number;
  /** False: never use scripts; otherwise they are used unless the server refuses them. */
  readonly scripts?: boolean;
  /** Wait before a second attempt to connect, and how far it may grow. */
  readonly startupInitialMs?: number;
  readonly startupMaxMs?: number;
  /** How long the first connection may take before `run$` fails; 0: for ever. */
  readonly startupMaxElapsedMs?: number;
  readonly pool?: PoolOptions;
  /** The setting that names the kind of store, for messages. Default: KVSTORE_TYPE. */
  readonly typeSetting?: TypeSetting;
}

export interface RedisCountersOptions extends ServerOptions {
  readonly address: StoreAddress;
  /** Credentials and TLS for sentinels: nothing of it comes from `auth` and `tls`. */
  readonly sentinelAuth?: CredentialsSource | undefined;
  readonly sentinelTls?: ClientTlsFiles | undefined;
  /** Nodes of a cluster that are asked at the same time; 0: all. */
  readonly clusterParallelism?: number;
  /** The channel that carries what local caches must forget. */
  readonly forgetChannel?: string;
  /** Prefix of the pool's statistics. */
  readonly statisticsPrefix?: string;
}

export interface NodeOptions extends ServerOptions {
  readonly address: RedisAddress;
  /** Part of a cluster: scripts get their keys as arguments, because they lie in several slots. */
  readonly isClusterNode?: boolean;
  /** Named by sentinels: not used while it says that it is a replica. */
  readonly mustBeMaster?: boolean;
  /** Batches wait for the first connection while it is being opened, instead of failing at once. */
  readonly waitsForFirstConnection?: boolean;
}

/** What happens to the store, for a log. Reasons never hold a credential. */
export type RedisEvent =
  | { readonly kind: 'connected'; readonly store: string; readonly usesScripts: boolean }
  | ConnectionEvent
  /** The store takes no scripts (a proxy, an access list): plain commands are used. */
  | { readonly kind: 'scripts-refused'; readonly store: string; readonly reason: string }
  /** It takes them again, and they are used. */
  | { readonly kind: 'scripts-taken'; readonly store: string }
  /** Once, until a new connection may: counters would have no end. */
  | { readonly kind: 'expire-refused'; readonly store: string; readonly reason: string }
  /**
   * The server is not what the settings say it is; `advice` names the setting that mends it, and no address. `isUsed`: it counts
   * what it can; otherwise `unreachable` says the same.
   */
  | {
      readonly kind: 'misplaced';
      readonly store: string;
      readonly reason: string;
      readonly advice: string;
      readonly isUsed: boolean;
    }
  /** It is. */
  | { readonly kind: 'placed'; readonly store: string }
  /** Once: counters are held back by a read and then an add, and why that is so. */
  | { readonly kind: 'hold-back-not-atomic'; readonly store: string; readonly reason: string }
  /** Once: increments fail whose kind needs scripts. */
  | { readonly kind: 'scripts-needed'; readonly store: string; readonly reason: string }
  /** The clock of the server and ours differ by seconds; again from time to time, and once that they agree. */
  | { readonly kind: 'clock-differs'; readonly store: string; readonly reason: string }
  | { readonly kind: 'clock-agrees'; readonly store: string }
  /** Another connection could not be opened; the others stay in use. */
  | { readonly kind: 'pool-not-grown'; readonly store: string; readonly reason: string }
  /** The sentinels name another master than before, or the first. */
  | { readonly kind: 'master-changed'; readonly store: string; readonly master: string }
  /** A sentinel does not name the master; once, and once that it does again. */
  | { readonly kind: 'sentinel-failed'; readonly store: string; readonly reason: string }
  | { readonly kind: 'sentinel-works'; readonly store: string }
  /** Once: a sentinel refuses listeners, so that a failover is known when it is asked next. */
  | { readonly kind: 'switch-unheard'; readonly store: string; readonly reason: string }
  /** Slots of the cluster have other owners than before, or their first. */
  | { readonly kind: 'slots-changed'; readonly store: string; readonly nodes: readonly string[] }
  /** No node returned the slot map; once, and once that one does again. */
  | { readonly kind: 'slots-unknown'; readonly store: string; readonly reason: string }
  | { readonly kind: 'slots-known'; readonly store: string }
  /** A server no longer belongs to the store. */
  | { readonly kind: 'left'; readonly store: string }
  /** Nodes of the cluster redirect to addresses that are not among its nodes; once, and once when none does any more. */
  | { readonly kind: 'redirects-astray'; readonly store: string; readonly reason: string }
  | { readonly kind: 'redirects-followed'; readonly store: string }
  /** Once: messages to the local caches cannot be sent or heard. */
  | { readonly kind: 'forget-refused'; readonly store: string; readonly reason: string };

/**
 * Hears of counters to forget by their keys, long ones by their digests; undefined: messages may have been missed, or there are too
 * many. `endsLeases`: they were reset or set.
 */
export type OnForget = (keys: readonly string[] | undefined, endsLeases: boolean) => void;

export interface RedisCountersDeps {
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly random: Random;
  /** The time of day of this process, to compare it with that of each server; undefined: they are not compared. */
  readonly clock?: Clock;
  readonly statistics?: Pick<Statistics, 'gauge' | 'count'>;
  readonly onEvent?: (event: RedisEvent) => void;
  /** Undefined: local caches and leases hear nothing. */
  readonly onForget?: OnForget | undefined;
  /** Nothing is listened to before it is true; undefined: from the start. Ends with the counters. */
  readonly forgetWhen$?: Observable<boolean> | undefined;
  /** Guards one node of a cluster (a circuit breaker): while that is away, the others are asked as before. */
  readonly guardNode?: (store: string) => NodeGuard;
}

/** Lets a call through to a node, or fails it at once. */
export type NodeGuard = <T>(ask: () => Promise<T>) => Promise<T>;

/** Whether a server can listen there. */
export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** The address as it stands in messages. */
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
