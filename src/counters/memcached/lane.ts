import { lastValueFrom } from 'rxjs';
import { createStopSignal, keepConnected } from '../../../streams';
import { toReason } from '../../platform/errors';
import { type Link } from './link';
import { openLink } from './open-link';
import { type MemcachedCountersDeps, type MemcachedTls, type NodeAddress } from './options';
import { type NodeErrors } from './store-errors';

/** Keeps one connection to a node: opens it, and opens it again whenever it is lost. */
export interface Lane {
  readonly errors: NodeErrors;
  /** Undefined while there is none; then `reason` says why. */
  readonly link: Link | undefined;
  readonly reason: string;
  /** Connects until `close`; resolves then, never rejects. */
  run(): Promise<void>;
  /** Lets what waits settle, then disconnects. */
  close(): Promise<void>;
}

export interface LaneOptions {
  readonly address: NodeAddress;
  readonly tls: MemcachedTls | undefined;
  readonly timeoutMs: number;
  readonly initialIntervalMs: number;
  readonly maxIntervalMs: number;
}

export interface LaneDeps extends Pick<
  MemcachedCountersDeps,
  'monotonicMs' | 'random' | 'onEvent'
> {
  readonly errors: NodeErrors;
  readonly onChange: () => void;
}

/** Keeps the instances of a service from connecting in step. */
const BACKOFF = { factor: 2, jitter: 0.1 };

/** What was good for this long needs no pause before the next attempt. */
const STEADY_MS = 1_000;

/** An attempt without an answer is cut off after this time, twice as long after each failure. */
const FIRST_ATTEMPT_MS = 750;
const SHORTEST_ATTEMPT_MS = 250;

const CLOSED = 'the counters are closed';

export function createLane(deps: LaneDeps, options: LaneOptions): Lane {
  const { errors, monotonicMs, random, onEvent, onChange } = deps;
  const { timeoutMs, initialIntervalMs, maxIntervalMs } = options;
  const store = errors.node;
  const stopping = new AbortController();
  const { signal } = stopping;
  const isStopped = (): boolean => signal.aborted;
  const ended = createStopSignal();
  let link: Link | undefined;
  let reason = 'not connected yet';
  let closing: Promise<void> | undefined;

  const use = async (failures: number): Promise<number> => {
    const attemptMs = Math.min(timeoutMs, FIRST_ATTEMPT_MS * 2 ** failures);
    const opened = await openLink({
      ...options,
      errors,
      monotonicMs,
      signal,
      attemptMs: Math.max(SHORTEST_ATTEMPT_MS, attemptMs),
    });
    const sinceMs = monotonicMs();
    if (isStopped()) {
      opened.destroy(CLOSED);
      return 0;
    }
    link = opened;
    onEvent?.({ kind: 'connected', store });
    onChange();
    reason = await opened.ended;
    link = undefined;
    onChange();
    if (!isStopped()) onEvent?.({ kind: 'disconnected', store, reason });
    return monotonicMs() - sinceMs;
  };

  const run$ = keepConnected({
    connect: use,
    backoff: { initialMs: initialIntervalMs, maxMs: maxIntervalMs, ...BACKOFF },
    steadyMs: STEADY_MS,
    giveUpAfterMs: 0,
    now: monotonicMs,
    random,
    onFailure(error, attempts, nextAttemptMs) {
      if (isStopped()) return;
      reason = toReason(error);
      onEvent?.({ kind: 'unreachable', store, reason, attempts, nextAttemptMs });
    },
    toFinalError: (error) => new Error(toReason(error)),
    onEnd: () => link?.destroy(CLOSED),
  }).pipe(ended.until());

  const settle = async (): Promise<void> => {
    stopping.abort();
    const open = link;
    reason = CLOSED;
    open?.endWhenIdle();
    await open?.ended;
    ended.stop();
  };

  return {
    errors,
    get link() {
      return link;
    },
    get reason() {
      return reason;
    },
    run: () => lastValueFrom(run$, { defaultValue: undefined }),
    close: () => (closing ??= settle()),
  };
}
