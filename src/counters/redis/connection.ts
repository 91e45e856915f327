import type { Observable } from 'rxjs';
import { StoreError } from '../../core/errors';
import { createSnapshot, createStopSignal, keepConnected } from '../../../streams';
import { toReason } from '../../platform/errors';
import { type Link } from './link';
import { type NodeOptions, type RedisCountersDeps } from './options';

/** Keeps one connection to a server: opens it, and opens it again whenever it is lost. */
export interface Connection {
  /** Why there is no connection. */
  readonly reason: string;
  /** Changes only. */
  readonly connected$: Observable<boolean>;
  /**
   * Connects while it is subscribed to; subscribe once. Completes after `end`; fails with a
   * StoreError when no first connection comes about within `startupMaxElapsedMs`.
   */
  readonly run$: Observable<never>;
  /** Opens no more connections; for this reason. */
  stop(reason: string): void;
  /** Completes all streams. */
  end(): void;
}

export interface ConnectionDeps extends Pick<
  RedisCountersDeps,
  'monotonicMs' | 'random' | 'onEvent'
> {
  /** The server's address, as it stands in messages. */
  readonly store: string;
  /** Opens a connection within this time; rejects with an error that says why that failed. */
  readonly open: (attemptMs: number) => Promise<Link>;
  readonly onOpen: (link: Link) => void;
  /** There is none, for this reason: it was lost, or an attempt has failed. */
  readonly onAway: (reason: string) => void;
  /** `run$` is no longer run. */
  readonly onEnd: () => void;
}

const DEFAULT_INTERVAL_MS = 1_000;

const BACKOFF_FACTOR = 2;

/** Keeps the instances of a service from connecting in step. */
const BACKOFF_JITTER = 0.1;

/** What was good for this long needs no pause before the next attempt. */
const STEADY_MS = 1_000;

/**
 * An attempt without an answer is cut off after this time, twice as long after each failure but never
 * later than the store's time-out: a server that is back is noticed by the next attempt, and one that
 * has many clients to greet is given its time.
 */
const FIRST_ATTEMPT_MS = 750;
const SHORTEST_ATTEMPT_MS = 250;

export function createConnection(deps: ConnectionDeps, options: NodeOptions): Connection {
  const { store, open, onOpen, onAway, onEnd, monotonicMs, random, onEvent } = deps;
  const connected = createSnapshot(false);
  const ended = createStopSignal();
  let isStopped = false;
  let reason = 'not connected yet';

  const hasStopped = (): boolean => isStopped;

  const use = async (failures: number): Promise<number> => {
    const link = await open(attemptLimit(options.timeoutMs, failures));
    const sinceMs = monotonicMs();
    if (hasStopped()) {
      link.destroy(reason);
      return 0;
    }
    onOpen(link);
    connected.set(true);
    onEvent?.({ kind: 'connected', store, usesScripts: link.usesScripts });
    const lost = await link.retired;
    if (!hasStopped()) {
      reason = lost;
      onEvent?.({ kind: 'disconnected', store, reason });
    }
    connected.set(false);
    onAway(reason);
    return monotonicMs() - sinceMs;
  };

  const { startupMaxElapsedMs = 0 } = options;
  const { startupInitialMs = DEFAULT_INTERVAL_MS, startupMaxMs = DEFAULT_INTERVAL_MS } = options;
  const run$ = keepConnected({
    connect: use,
    backoff: {
      initialMs: startupInitialMs,
      maxMs: startupMaxMs,
      factor: BACKOFF_FACTOR,
      jitter: BACKOFF_JITTER,
    },
    steadyMs: STEADY_MS,
    giveUpAfterMs: startupMaxElapsedMs,
    now: monotonicMs,
    random,
    onFailure(error, attempts, nextAttemptMs) {
      if (isStopped) return;
      reason = toReason(error);
      onEvent?.({ kind: 'unreachable', store, reason, attempts, nextAttemptMs });
      onAway(reason);
    },
    toFinalError: (error) => toGivenUpError(store, startupMaxElapsedMs, toReason(error)),
    onEnd,
  }).pipe(ended.until());

  return {
    get reason() {
      return reason;
    },
    connected$: connected.changes$,
    run$,
    stop(why) {
      isStopped = true;
      reason = why;
    },
    end() {
      connected.close();
      ended.stop();
    },
  };
}

/** What the first connection's failing to come about means. */
export function toGivenUpError(store: string, withinMs: number, reason: string): StoreError {
  const message = `redis ${store} could not be reached within ${String(withinMs)} ms: ${reason}`;
  return new StoreError('store_unavailable', message);
}

function attemptLimit(timeoutMs: number, failures: number): number {
  return Math.max(SHORTEST_ATTEMPT_MS, Math.min(timeoutMs, FIRST_ATTEMPT_MS * 2 ** failures));
}
