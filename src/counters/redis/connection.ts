import type { Observable } from 'rxjs';
import { StoreError } from '../../core/errors';
import { createSnapshot, createStopSignal, keepConnected } from '../../../streams';
import { toAddressText } from './address';
import { type Link } from './link';
import { openLink } from './open-link';
import { type RedisCountersDeps, type RedisCountersOptions } from './options';
import { toReason } from './store-errors';

/** Keeps one connection to a server: opens it, and opens it again whenever it is lost. */
export interface Connection {
  /** The server's address, as it stands in messages. */
  readonly store: string;
  /** Undefined while there is none; then `reason` says why. */
  readonly link: Link | undefined;
  readonly reason: string;
  /** Changes only. */
  readonly connected$: Observable<boolean>;
  /**
   * Connects while it is subscribed to; subscribe once. Completes after `close`; fails with a
   * StoreError when no first connection comes about within `startupMaxElapsedMs`.
   */
  readonly run$: Observable<never>;
  /** Lets what is open settle, then disconnects. */
  close(): Promise<void>;
}

const DEFAULT_INTERVAL_MS = 1_000;

const BACKOFF_FACTOR = 2;

/** Keeps the instances of a service from connecting in step. */
const BACKOFF_JITTER = 0.1;

/** What was good for this long needs no pause before the next attempt. */
const STEADY_MS = 1_000;

const CLOSED = 'the counters are closed';

/**
 * An attempt without an answer is cut off after this time, twice as long after each failure but never
 * later than the store's time-out: a server that is back is noticed by the next attempt, and one that
 * has many clients to greet is given its time.
 */
const FIRST_ATTEMPT_MS = 750;
const SHORTEST_ATTEMPT_MS = 250;

export function createConnection(
  deps: RedisCountersDeps,
  options: RedisCountersOptions,
): Connection {
  const { monotonicMs, random, statistics, onEvent } = deps;
  const { timeoutMs, statisticsPrefix = 'ratelimit.redis_pool' } = options;
  const store = toAddressText(options.address);
  const connected = createSnapshot(false);
  const stopping = new AbortController();
  const { signal } = stopping;
  const isStopped = (): boolean => signal.aborted;
  const ended = createStopSignal();
  const links = new Set<Link>();
  let link: Link | undefined;
  let reason = 'not connected yet';
  let closing: Promise<void> | undefined;

  const removeGauge = statistics?.gauge(`${statisticsPrefix}.cx_active`, () => links.size);

  const open = async (failures: number): Promise<Link> => {
    const onScriptsRefused = (why: string): void => {
      onEvent?.({ kind: 'scripts-refused', store, reason: why });
    };
    const attemptMs = attemptLimit(timeoutMs, failures);
    const linkDeps = { store, monotonicMs, onScriptsRefused };
    const opened = await openLink(linkDeps, { ...options, attemptMs, signal });
    links.add(opened);
    statistics?.count(`${statisticsPrefix}.cx_total`, 1);
    void opened.closed.then(() => {
      links.delete(opened);
      statistics?.count(`${statisticsPrefix}.cx_local_close`, 1);
    });
    return opened;
  };

  const use = async (failures: number): Promise<number> => {
    const opened = await open(failures);
    const sinceMs = monotonicMs();
    if (isStopped()) {
      opened.destroy(CLOSED);
      return 0;
    }
    link = opened;
    connected.set(true);
    onEvent?.({ kind: 'connected', store, usesScripts: opened.usesScripts });
    reason = await opened.retired;
    link = undefined;
    connected.set(false);
    if (!isStopped()) onEvent?.({ kind: 'disconnected', store, reason });
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
      if (isStopped()) return;
      reason = toReason(error);
      onEvent?.({ kind: 'unreachable', store, reason, attempts, nextAttemptMs });
    },
    toFinalError: (error) => toGivenUpError(store, startupMaxElapsedMs, error),
    onEnd() {
      stopping.abort();
      for (const each of links) each.destroy('the counters are no longer run');
    },
  }).pipe(ended.until());

  const settle = async (): Promise<void> => {
    stopping.abort();
    reason = CLOSED;
    const open = [...links];
    for (const each of open) each.retire(reason);
    await Promise.all(open.map(({ closed }) => closed));
    removeGauge?.();
    connected.close();
    ended.stop();
  };

  return {
    store,
    get link() {
      return link;
    },
    get reason() {
      return reason;
    },
    connected$: connected.changes$,
    run$,
    close: () => (closing ??= settle()),
  };
}

function attemptLimit(timeoutMs: number, failures: number): number {
  return Math.max(SHORTEST_ATTEMPT_MS, Math.min(timeoutMs, FIRST_ATTEMPT_MS * 2 ** failures));
}

function toGivenUpError(store: string, withinMs: number, cause: unknown): StoreError {
  const message = `redis ${store} could not be reached within ${String(withinMs)} ms`;
  return new StoreError('store_unavailable', `${message}: ${toReason(cause)}`);
}
