/** When a circuit breaker opens and how it probes. */
export interface BreakerOptions {
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
