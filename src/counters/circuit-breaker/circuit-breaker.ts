import { StoreError } from '../../core/errors';
import type { Counters } from '../../core/ports';
import {
  CLOSED,
  DEFAULT_BREAKER,
  stepBreaker,
  type BreakerEvent,
  type BreakerOptions,
  type BreakerState,
} from './breaker-state';

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
