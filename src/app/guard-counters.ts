import type { Counters, Statistics } from '../core/ports';
import {
  createCircuitBreaker,
  type BreakerChange,
  type CircuitBreaker,
} from '../counters/circuit-breaker/circuit-breaker';
import { withCircuitBreaker } from '../counters/circuit-breaker/with-circuit-breaker';
import { createOverLimitCache } from '../counters/over-limit-cache';
import { withOverLimitCache } from '../counters/with-over-limit-cache';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';

export interface GuardDeps {
  readonly monotonicMs: () => number;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

/** A circuit breaker that tells the log about what it guards. */
export function createBreaker(store: string, { monotonicMs, logger }: GuardDeps): CircuitBreaker {
  const onChange = (change: BreakerChange): void => {
    if (change.kind === 'closed') logger.info(`${store} is asked again`);
    else logger.warn(`${store} is away and not asked until it is back`, { reason: change.reason });
  };
  return createCircuitBreaker({ monotonicMs, onChange });
}

/** A remote store behind a circuit breaker; one breaker for each store. */
export function withBreaker(counters: Counters, store: string, deps: GuardDeps): Counters {
  return withCircuitBreaker(counters, createBreaker(store, deps));
}

/** Before all stores the local cache of counters over their limit, where it has a size. */
export function withLocalCache(
  counters: Counters,
  { decisions }: Settings,
  { statistics }: Pick<GuardDeps, 'statistics'>,
): Counters {
  const sizeBytes = decisions.localCacheSizeBytes;
  if (sizeBytes === 0) return counters;
  return withOverLimitCache(counters, createOverLimitCache({ statistics }, { sizeBytes }));
}
