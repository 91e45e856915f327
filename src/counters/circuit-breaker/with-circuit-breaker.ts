import type { Counters } from '../../core/ports';
import type { CircuitBreaker } from './circuit-breaker';

/** Counters that are not asked while their store is away. */
export function withCircuitBreaker(counters: Counters, breaker: CircuitBreaker): Counters {
  return {
    add: (batch) => breaker.call(() => counters.add(batch)),
    close: () => counters.close(),
  };
}
