import { type Random, type Statistics } from '../../core/ports';
import { type CredentialsSource } from '../../platform/credentials-source';
import { type RedisAddress, type RedisStoreAddress } from './address';

/** Files are read again for every new connection, so that renewed certificates need no restart. */
export interface RedisTls {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly skipHostnameVerification: boolean;
}

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
  /** Who we are; without a name the server's default user. */
  readonly auth?: CredentialsSource | undefined;
  /** Selected on every connection; 0 when undefined. */
  readonly database?: number;
  readonly tls?: RedisTls | undefined;
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
}

export interface RedisCountersOptions extends ServerOptions {
  readonly address: RedisStoreAddress;
  /** Who we are to sentinels, and how we talk to them: nothing of it comes from `auth` and `tls`. */
  readonly sentinelAuth?: CredentialsSource | undefined;
  readonly sentinelTls?: RedisTls | undefined;
  /** Nodes of a cluster that are asked at the same time; 0: all. */
  readonly clusterParallelism?: number;
  /** Prefix of the pool's statistics. */
  readonly statisticsPrefix?: string;
}

/** One server of a store. */
export interface NodeOptions extends ServerOptions {
  readonly address: RedisAddress;
  /** Part of a cluster: scripts get their keys as arguments, because they lie in several slots. */
  readonly isClusterNode?: boolean;
  /** Named by sentinels: not used while it says that it is no master. */
  readonly mustBeMaster?: boolean;
  /** Batches wait for the first connection while it is on its way, instead of failing at once. */
  readonly isPatient?: boolean;
}

/** What happens to the store, for a log. Reasons never hold a credential. */
export type RedisEvent =
  | { readonly kind: 'connected'; readonly store: string; readonly usesScripts: boolean }
  | { readonly kind: 'disconnected'; readonly store: string; readonly reason: string }
  | {
      readonly kind: 'unreachable';
      readonly store: string;
      readonly reason: string;
      /** Attempts that failed since the store was last connected. */
      readonly attempts: number;
      readonly nextAttemptMs: number;
    }
  /** The store takes no scripts (a proxy, an access list): plain commands are used. */
  | { readonly kind: 'scripts-refused'; readonly store: string; readonly reason: string }
  /** Once: runs are held back by a read and then an add, and why that is so. */
  | { readonly kind: 'hold-back-not-atomic'; readonly store: string; readonly reason: string }
  /** Another connection was wanted and could not be had; those that there are go on. */
  | { readonly kind: 'pool-not-grown'; readonly store: string; readonly reason: string }
  /** The sentinels name another master than before, or the first. */
  | { readonly kind: 'master-changed'; readonly store: string; readonly master: string }
  /** A sentinel does not answer as it should; told once until it does. */
  | { readonly kind: 'sentinel-failed'; readonly store: string; readonly reason: string }
  /** Slots of the cluster have other owners than before, or their first. */
  | { readonly kind: 'slots-changed'; readonly store: string; readonly nodes: readonly string[] }
  /** No node tells how slots are placed; told once until one does. */
  | { readonly kind: 'slots-unknown'; readonly store: string; readonly reason: string };

export interface RedisCountersDeps {
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics?: Pick<Statistics, 'gauge' | 'count'>;
  readonly onEvent?: (event: RedisEvent) => void;
  /** Stands between batches and one node of a cluster (a circuit breaker), so that it alone is left alone. */
  readonly guardNode?: (store: string) => NodeGuard;
}

/** Lets a call through to a node, or fails it at once. */
export type NodeGuard = <T>(ask: () => Promise<T>) => Promise<T>;
