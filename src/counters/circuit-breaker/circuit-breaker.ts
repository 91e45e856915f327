import { StoreError } from '../../core/errors';
import type { Counters } from '../../core/ports';

/** When a circuit breaker opens and how it probes. */
interface BreakerOptions {
  /** Consecutive failures that open it. */
  readonly failures: number;
  /** A window of this length with at least `windowCalls` calls and this share of time-outs opens it. */
  readonly windowMs: number;
  readonly windowCalls: number;
  readonly timeoutShare: number;
  /** An unanswered call of this age opens it, however long its time-out is. */
  readonly overdueMs: number;
  /** Wait before the first probe; doubled after each failed probe. */
  readonly firstWaitMs: number;
  /** Maximal wait while probes fail at once, which costs nothing. */
  readonly maxWaitMs: number;
  /** Maximal wait while probes time out, each of which keeps its callers waiting. */
  readonly maxWaitAfterTimeoutMs: number;
}

export const DEFAULT_BREAKER: BreakerOptions = {
  failures: 5,
  windowMs: 1_000,
  windowCalls: 10,
  timeoutShare: 0.5,
  overdueMs: 1_000,
  firstWaitMs: 50,
  maxWaitMs: 250,
  maxWaitAfterTimeoutMs: 1_000,
};

/** Closed: calls pass. Open: calls fail. Half-open: one call, the probe, passes. */
export type BreakerState = ClosedState | OpenState | HalfOpenState;

interface ClosedState {
  readonly kind: 'closed';
  readonly failuresInRow: number;
  readonly windowStartMs: number;
  readonly windowCalls: number;
  readonly windowTimeouts: number;
  /** Since when a call is overdue. It must be overdue at two checks, so that answers still unread in a socket are read first. */
  readonly overdueSinceMs: number | undefined;
}

interface OpenState {
  readonly kind: 'open';
  readonly waitMs: number;
  readonly untilMs: number;
}

interface HalfOpenState {
  readonly kind: 'half-open';
  readonly waitMs: number;
}

export type BreakerEvent =
  /** A call begins; `oldestMs`: when the oldest unanswered call began. */
  | { readonly kind: 'asked'; readonly atMs: number; readonly oldestMs: number | undefined }
  /** A call ended. */
  | {
      readonly kind: 'succeeded' | 'failed' | 'timed-out';
      readonly atMs: number;
      readonly isProbe: boolean;
    };

type Outcome = Exclude<BreakerEvent, { kind: 'asked' }>;

/** Between two checks of an overdue call this process has read its sockets. */
const OVERDUE_AGAIN_MS = 20;

export const CLOSED: BreakerState = {
  kind: 'closed',
  failuresInRow: 0,
  windowStartMs: -Infinity,
  windowCalls: 0,
  windowTimeouts: 0,
  overdueSinceMs: undefined,
};

/** The state after an event. Pure. */
export function stepBreaker(
  state: BreakerState,
  event: BreakerEvent,
  options: BreakerOptions,
): BreakerState {
  switch (state.kind) {
    case 'closed':
      return event.kind === 'asked'
        ? stepAsked(state, event.atMs, event.oldestMs, options)
        : stepOutcome(state, event, options);
    case 'open': {
      const { waitMs, untilMs } = state;
      return event.kind === 'asked' && event.atMs >= untilMs
        ? { kind: 'half-open', waitMs }
        : state;
    }
    case 'half-open':
      return event.kind === 'asked' || !event.isProbe ? state : stepProbe(state, event, options);
  }
}

function open(atMs: number, waitMs: number): OpenState {
  return { kind: 'open', waitMs, untilMs: atMs + waitMs };
}

function stepAsked(
  state: ClosedState,
  atMs: number,
  oldestMs: number | undefined,
  { overdueMs, firstWaitMs }: BreakerOptions,
): BreakerState {
  const { overdueSinceMs } = state;
  const isOverdue = oldestMs !== undefined && atMs - oldestMs >= overdueMs;
  if (!isOverdue)
    return overdueSinceMs === undefined ? state : { ...state, overdueSinceMs: undefined };
  if (overdueSinceMs === undefined) return { ...state, overdueSinceMs: atMs };
  return atMs - overdueSinceMs >= OVERDUE_AGAIN_MS ? open(atMs, firstWaitMs) : state;
}

function stepOutcome(
  state: ClosedState,
  { kind, atMs }: Outcome,
  options: BreakerOptions,
): BreakerState {
  const isNew = atMs - state.windowStartMs >= options.windowMs;
  const isTimeout = kind === 'timed-out';
  const next: ClosedState = {
    kind: 'closed',
    failuresInRow: kind === 'succeeded' ? 0 : state.failuresInRow + 1,
    windowStartMs: isNew ? atMs : state.windowStartMs,
    windowCalls: (isNew ? 0 : state.windowCalls) + 1,
    windowTimeouts: (isNew ? 0 : state.windowTimeouts) + (isTimeout ? 1 : 0),
    overdueSinceMs: state.overdueSinceMs,
  };
  return mustOpen(next, options) ? open(atMs, options.firstWaitMs) : next;
}

function mustOpen(
  { failuresInRow, windowCalls, windowTimeouts }: ClosedState,
  options: BreakerOptions,
): boolean {
  if (failuresInRow >= options.failures) return true;
  return windowCalls >= options.windowCalls && windowTimeouts >= windowCalls * options.timeoutShare;
}

function stepProbe(
  { waitMs }: HalfOpenState,
  { kind, atMs }: Outcome,
  { maxWaitMs, maxWaitAfterTimeoutMs }: BreakerOptions,
): BreakerState {
  if (kind === 'succeeded') return CLOSED;
  const maxMs = kind === 'timed-out' ? maxWaitAfterTimeoutMs : maxWaitMs;
  return open(atMs, Math.min(waitMs * 2, maxMs));
}

/** For a log: it opened, with the error that opened it, or it closed again. */
export type BreakerChange =
  { readonly kind: 'opened'; readonly reason: string } | { readonly kind: 'closed' };

export interface CircuitBreakerDeps {
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number;
  readonly onChange?: (change: BreakerChange) => void;
}

/**
 * Passes calls, or fails them at once with an error whose fault is `breaker`, while their target is unreachable. From time to time
 * one call, the probe, passes to find out whether it is back. Errors that a reachable store answers, and those of one node among
 * several, open nothing.
 */
export interface CircuitBreaker {
  readonly call: <T>(ask: () => Promise<T>) => Promise<T>;
  /** An open breaker without a call for a minute counts as closed: its target is not used any more. */
  readonly state: BreakerState['kind'];
}

const FORGOTTEN_MS = 60_000;

interface Call {
  readonly startedMs: number;
  readonly isProbe: boolean;
}

const NO_ANSWER = 'the store does not answer';

export function createCircuitBreaker(
  { monotonicMs, onChange }: CircuitBreakerDeps,
  options: BreakerOptions = DEFAULT_BREAKER,
): CircuitBreaker {
  const calls = new Set<Call>();
  let state: BreakerState = CLOSED;
  let reason = NO_ANSWER;

  const step = (event: BreakerEvent): void => {
    const before: string = state.kind;
    state = stepBreaker(state, event, options);
    if (before === 'closed' && state.kind === 'open') onChange?.({ kind: 'opened', reason });
    if (before === 'half-open' && state.kind === 'closed') {
      reason = NO_ANSWER;
      onChange?.({ kind: 'closed' });
    }
  };

  const oldestMs = (): number | undefined => {
    for (const { startedMs } of calls) return startedMs;
    return undefined;
  };

  const pass = async <T>(ask: () => Promise<T>, call: Call): Promise<T> => {
    calls.add(call);
    const end = (kind: 'succeeded' | 'failed' | 'timed-out'): void => {
      calls.delete(call);
      step({ kind, atMs: monotonicMs(), isProbe: call.isProbe });
    };
    try {
      const reply = await ask();
      end('succeeded');
      return reply;
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome !== 'succeeded') reason = (error as Error).message;
      end(outcome);
      throw error;
    }
  };

  const call: CircuitBreaker['call'] = (ask) => {
    const startedMs = monotonicMs();
    const before: string = state.kind;
    step({ kind: 'asked', atMs: startedMs, oldestMs: oldestMs() });
    const isProbe = before === 'open' && state.kind === 'half-open';
    if (state.kind === 'closed' || isProbe) return pass(ask, { startedMs, isProbe });
    const message = `circuit breaker open, counter store not called: ${reason}`;
    return Promise.reject(new StoreError('store_unavailable', message, { fault: 'breaker' }));
  };

  return {
    call,
    get state() {
      const isForgotten = state.kind === 'open' && monotonicMs() - state.untilMs > FORGOTTEN_MS;
      return isForgotten ? 'closed' : state.kind;
    },
  };
}

/** Counters that are not called while their store is unreachable. */
export function withCircuitBreaker(counters: Counters, breaker: CircuitBreaker): Counters {
  return {
    add: (batch) => breaker.call(() => counters.add(batch)),
    close: () => counters.close(),
  };
}

/** Any answer of the store counts as a success, even an error. */
function outcomeOf(error: unknown): 'succeeded' | 'failed' | 'timed-out' {
  if (!(error instanceof StoreError)) return 'failed';
  if (error.fault !== 'store') return 'succeeded';
  return error.code === 'store_timeout' ? 'timed-out' : 'failed';
}
