import { type Random, type Statistics } from '../../core/ports';
import { type RedisAddress, type RedisAuth } from './address';

/** Files are read again for every new connection, so that renewed certificates need no restart. */
export interface RedisTls {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly skipHostnameVerification: boolean;
}

export interface RedisCountersOptions {
  readonly address: RedisAddress;
  readonly auth?: RedisAuth | undefined;
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
  /** Prefix of the pool's statistics. */
  readonly statisticsPrefix?: string;
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
  /** Once: increments are held back, but without scripts that is a read and then an add. */
  | { readonly kind: 'hold-back-not-atomic'; readonly store: string };

export interface RedisCountersDeps {
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics?: Pick<Statistics, 'gauge' | 'count'>;
  readonly onEvent?: (event: RedisEvent) => void;
}
