import type { Counters, Statistics } from '../core/ports';
import {
  withCircuitBreaker,
  type BreakerChange,
} from '../counters/circuit-breaker/with-circuit-breaker';
import { createOverLimitCache } from '../counters/over-limit-cache';
import { withOverLimitCache } from '../counters/with-over-limit-cache';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';

export interface GuardDeps {
  readonly monotonicMs: () => number;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

/** A remote store behind a circuit breaker; one breaker for each store, its gauge below `prefix`. */
export function withBreaker(
  counters: Counters,
  store: string,
  prefix: string,
  deps: GuardDeps,
): Counters {
  const onChange = (change: BreakerChange): void => {
    if (change.kind === 'closed') deps.logger.info(`${store} is asked again`);
    else
      deps.logger.warn(`${store} is away and not asked until it is back`, {
        reason: change.reason,
      });
  };
  const shown = { statistics: deps.statistics, name: `${prefix}.breaker_state` };
  return withCircuitBreaker(counters, { monotonicMs: deps.monotonicMs, onChange, shown });
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
