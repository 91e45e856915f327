import { StoreError } from '../../core/errors';
import type { CounterBatch, CounterReply, Counters, Statistics } from '../../core/ports';
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
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly onChange?: (change: BreakerChange) => void;
  /** Where its state is shown, as a gauge of this name: 0 closed, 1 half-open, 2 open. */
  readonly shown?: { readonly statistics: Pick<Statistics, 'gauge'>; readonly name: string };
}

interface Call {
  readonly startedMs: number;
  readonly isProbe: boolean;
}

const LEVELS = { closed: 0, 'half-open': 1, open: 2 } as const;

const NO_ANSWER = 'the store gives no answer';

/**
 * Counters that are not asked while their store is away: such a batch fails at once, with an error whose
 * fault is `breaker`. From time to time one batch, the probe, is let through to see whether the store is
 * back. Errors of a store that answers, and those of one node among several, open nothing.
 */
export function withCircuitBreaker(
  counters: Counters,
  { monotonicMs, onChange, shown }: CircuitBreakerDeps,
  options: BreakerOptions = DEFAULT_BREAKER,
): Counters {
  const calls = new Set<Call>();
  let state: BreakerState = CLOSED;
  let reason = NO_ANSWER;
  const forget = shown?.statistics.gauge(shown.name, () => LEVELS[state.kind]);

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

  const call = async (batch: CounterBatch, { isProbe, startedMs }: Call): Promise<CounterReply> => {
    const own = { isProbe, startedMs };
    calls.add(own);
    const end = (kind: 'succeeded' | 'failed' | 'timed-out'): void => {
      calls.delete(own);
      step({ kind, atMs: monotonicMs(), isProbe });
    };
    try {
      const reply = await counters.add(batch);
      end('succeeded');
      return reply;
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome !== 'succeeded') reason = (error as Error).message;
      end(outcome);
      throw error;
    }
  };

  return {
    add(batch) {
      const startedMs = monotonicMs();
      const before: string = state.kind;
      step({ kind: 'asked', atMs: startedMs, oldestMs: oldestMs() });
      const isProbe = before === 'open' && state.kind === 'half-open';
      if (state.kind === 'closed' || isProbe) return call(batch, { startedMs, isProbe });
      const message = `the counter store is away and not asked: ${reason}`;
      return Promise.reject(new StoreError('store_unavailable', message, { fault: 'breaker' }));
    },
    close() {
      forget?.();
      return counters.close();
    },
  };
}

/** A store that answers is there, whatever it says. */
function outcomeOf(error: unknown): 'succeeded' | 'failed' | 'timed-out' {
  if (!(error instanceof StoreError)) return 'failed';
  if (error.fault !== 'store') return 'succeeded';
  return error.code === 'store_timeout' ? 'timed-out' : 'failed';
}
