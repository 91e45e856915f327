import type { Observable } from 'rxjs';
import { createStopSignal, keepConnected, type LostConnection } from '../../../streams';
import type { Random } from '../../core/ports';
import { toReason } from '../../platform/errors';

/** A connection that is ready for use. */
export interface OpenConnection {
  /** Resolves with the reason when it accepts no more calls; never rejects. */
  readonly retired: Promise<string>;
  /** It has answered a call after its handshake. Default: unknown. */
  readonly hasServed?: boolean;
  /** Ends now; pending calls fail. */
  destroy(reason: string): void;
}

/** One connection to a server, reopened whenever it is lost. */
export interface KeptConnection<C> {
  /** Undefined while there is none; `reason` then explains why. */
  readonly current: C | undefined;
  readonly reason: string;
  /** Aborted when no more connections are opened. */
  readonly signal: AbortSignal;
  /**
   * Connects while it is subscribed to; subscribe once. Completes after `end`; fails when the first connection is not established
   * in time.
   */
  readonly run$: Observable<never>;
  /** Opens no more connections, for this reason. */
  stop(reason: string): void;
  /** Completes `run$`. */
  end(): void;
}

export interface KeptConnectionDeps<C> {
  /** The server's address, as in messages. */
  readonly store: string;
  readonly monotonicMs: () => number;
  readonly random: Random;
  /** Opens a connection within this time; rejects with an error that explains the failure. */
  readonly open: (attemptMs: number, signal: AbortSignal) => Promise<C>;
  readonly onOpen: (connection: C) => void;
  /** It was lost, or an attempt has failed. */
  readonly onAway: () => void;
  /** `run$` has ended. */
  readonly onEnd: () => void;
  readonly onEvent: ((event: ConnectionEvent) => void) | undefined;
}

/** The connection's events, for a log. */
export type ConnectionEvent =
  | { readonly kind: 'disconnected'; readonly store: string; readonly reason: string }
  | {
      readonly kind: 'unreachable';
      readonly store: string;
      readonly reason: string;
      /** Attempts that failed since the server was last connected. */
      readonly attempts: number;
      readonly nextAttemptMs: number;
    };

export interface KeptConnectionOptions {
  /** Time-out of a call. An attempt takes at most this, or 2 s where that is longer. */
  readonly timeoutMs: number;
  /** First and maximal wait between attempts to connect. */
  readonly initialMs?: number | undefined;
  readonly maxMs?: number | undefined;
  /** Time limit of the first connection, and the error of `run$` after it; undefined: no limit. */
  readonly giveUp?: { readonly afterMs: number; toError(reason: string): Error } | undefined;
}

const DEFAULT_INTERVAL_MS = 1_000;

/** The jitter keeps the instances of a service from connecting in step. */
const BACKOFF = { factor: 2, jitter: 0.1 };

/** A connection that was good for this time is replaced without a pause. */
const STEADY_MS = 1_000;

/**
 * The wait after a shorter connection that had served: something cuts connections of a healthy server. One that had not served may
 * lead to a server that only greets.
 */
const SERVED_WAIT_MS = 50;

/**
 * An attempt without an answer is aborted after this time, doubled after each failure: a server that is back is noticed by the next
 * attempt, and one with many clients to greet gets its time.
 */
const FIRST_ATTEMPT_MS = 750;
/** No call waits for an attempt, so a short time-out for calls does not abort it before this. */
const LONG_ATTEMPT_MS = 2_000;

export function createKeptConnection<C extends OpenConnection>(
  deps: KeptConnectionDeps<C>,
  options: KeptConnectionOptions,
): KeptConnection<C> {
  const { store, monotonicMs, random, onEvent } = deps;
  const { initialMs = DEFAULT_INTERVAL_MS, maxMs = DEFAULT_INTERVAL_MS, giveUp } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const isStopped = (): boolean => signal.aborted;
  const ended = createStopSignal();
  let current: C | undefined;
  let stoppedFor: string | undefined;
  let reason = 'not connected yet';

  const useOne = async (failures: number): Promise<LostConnection> => {
    const connection = await deps.open(attemptLimit(options.timeoutMs, failures), signal);
    const sinceMs = monotonicMs();
    if (isStopped()) {
      connection.destroy(stoppedFor ?? reason);
      return { goodMs: 0, hasServed: false };
    }
    current = connection;
    deps.onOpen(connection);
    reason = await connection.retired;
    current = undefined;
    if (!isStopped()) onEvent?.({ kind: 'disconnected', store, reason });
    deps.onAway();
    return { goodMs: monotonicMs() - sinceMs, hasServed: connection.hasServed === true };
  };

  const run$ = keepConnected({
    connect: useOne,
    backoff: { initialMs, maxMs, ...BACKOFF },
    steadyMs: STEADY_MS,
    servedWaitMs: SERVED_WAIT_MS,
    giveUpAfterMs: giveUp?.afterMs ?? 0,
    now: monotonicMs,
    random,
    onFailure(error, attempts, nextAttemptMs) {
      if (isStopped()) return;
      reason = toReason(error);
      onEvent?.({ kind: 'unreachable', store, reason, attempts, nextAttemptMs });
      deps.onAway();
    },
    toFinalError: (error) => giveUp?.toError(toReason(error)) ?? new Error(toReason(error)),
    onEnd() {
      stopping.abort();
      deps.onEnd();
    },
  }).pipe(ended.until());

  return {
    get current() {
      return current;
    },
    get reason() {
      return stoppedFor ?? reason;
    },
    signal,
    run$,
    stop(why) {
      stoppedFor = why;
      stopping.abort();
    },
    end() {
      ended.stop();
    },
  };
}

function attemptLimit(timeoutMs: number, failures: number): number {
  return Math.min(longestAttemptMs(timeoutMs), FIRST_ATTEMPT_MS * 2 ** failures);
}

/** Upper bound for one attempt to open a connection. */
export function longestAttemptMs(timeoutMs: number): number {
  return Math.max(timeoutMs, LONG_ATTEMPT_MS);
}

/** How long opening a connection may take, and what aborts it. */
export interface Attempt {
  /** Limit for connecting and the handshake together. */
  readonly attemptMs: number;
  readonly signal: AbortSignal;
}

interface AttemptDeps {
  /** Rejects the task, with this reason. */
  readonly giveUp: (reason: string) => void;
  /** A possible cause, for the message of a time-out. */
  readonly hint?: () => string;
}

/** Runs the steps of opening a connection; gives up on the time-out or when the signal is aborted. */
export async function withinAttempt<T>(
  { attemptMs, signal }: Attempt,
  { giveUp, hint = () => '' }: AttemptDeps,
  task: () => Promise<T>,
): Promise<T> {
  const onLate = (): void => {
    giveUp(`no answer within ${String(attemptMs)} ms${hint()}`);
  };
  const onAbort = (): void => {
    giveUp('the service is stopping');
  };
  const timer = setTimeout(onLate, attemptMs);
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    return await task();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

export interface ReplyDeadlineDeps {
  readonly monotonicMs: () => number;
  /** When the oldest pending call began; undefined when none is pending. */
  readonly oldestSinceMs: () => number | undefined;
  /** The oldest call has been pending for `timeoutMs`. */
  readonly onTimeout: () => void;
}

/** Watches, with one timer, how long the oldest pending call has waited. */
export function createReplyDeadline(deps: ReplyDeadlineDeps, timeoutMs: number) {
  const { monotonicMs, oldestSinceMs, onTimeout } = deps;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const checkIn = (delayMs: number): void => {
    timer = setTimeout(check, delayMs, checkAgain).unref();
  };
  // Answers that came while this process was busy are still unread in the socket: they are read first.
  const checkAgain = (): void => {
    setImmediate(check, onTimeout);
  };
  const check = (onLate: () => void): void => {
    timer = undefined;
    const sinceMs = oldestSinceMs();
    if (isStopped || sinceMs === undefined) return;
    const leftMs = sinceMs + timeoutMs - monotonicMs();
    if (leftMs > 0) checkIn(Math.ceil(leftMs));
    else onLate();
  };

  return {
    /** A call begins to wait. */
    watch() {
      if (timer === undefined && !isStopped) checkIn(timeoutMs);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
