import type { Counters, Statistics } from '../core/ports';
import {
  createCircuitBreaker,
  type BreakerChange,
  type CircuitBreaker,
} from '../counters/circuit-breaker/circuit-breaker';
import { createOverLimitCache, type OverLimitCache } from '../counters/over-limit-cache';
import { withOverLimitCache, type PublishInvalidation } from '../counters/with-over-limit-cache';
import type { Settings } from '../settings/settings';
import type { OutageLog } from './outage-log';

export interface GuardDeps {
  readonly monotonicMs: () => number;
  readonly statistics: Statistics;
  readonly outages: OutageLog;
}

/** The breakers of one store: one, or one for each node of a cluster. */
export interface Breakers {
  /** The breaker of a store or node of this name; the log tells what becomes of it. */
  readonly breakerOf: (name: string) => CircuitBreaker;
  /** Whether one of them lets nothing through, or a probe alone. */
  readonly areOpen: () => boolean;
  /** There is nothing of this name any more. */
  readonly forget: (name: string) => void;
  /** Takes the gauge away. */
  readonly close: () => void;
}

const LEVELS = { closed: 0, 'half-open': 1, open: 2 } as const;

/** Shows the worst of them as the gauge `<prefix>.breaker_state`: 0 closed, 1 half-open, 2 open. */
export function createBreakers(
  prefix: string,
  { monotonicMs, statistics, outages }: GuardDeps,
): Breakers {
  const breakers = new Map<string, CircuitBreaker>();
  const close = statistics.gauge(`${prefix}.breaker_state`, () =>
    Math.max(0, ...[...breakers.values()].map(({ state }) => LEVELS[state])),
  );
  return {
    areOpen: () => [...breakers.values()].some(({ state }) => state !== 'closed'),
    breakerOf(name) {
      const lines = {
        level: 'warn',
        failing: `${name}: circuit breaker open; retrying periodically`,
        ended: `${name} is asked again`,
      } as const;
      const onChange = (change: BreakerChange): void => {
        const outage = `breaker ${name}`;
        if (change.kind === 'closed') outages.worked(outage);
        else outages.failed(outage, lines, { reason: change.reason });
      };
      const breaker = createCircuitBreaker({ monotonicMs, onChange });
      breakers.set(name, breaker);
      return breaker;
    },
    forget: (name) => breakers.delete(name),
    close,
  };
}

/** Counters that take the gauge of their breakers along when they close. */
export function closeWith<C extends Counters>(counters: C, breakers: Breakers): C {
  return {
    ...counters,
    close: () => {
      breakers.close();
      return counters.close();
    },
  };
}

/** The local cache of counters over their limit, where it has a size. */
export function createLocalCache(
  { decisions }: Settings,
  { statistics }: Pick<GuardDeps, 'statistics'>,
): OverLimitCache | undefined {
  const sizeBytes = decisions.localCacheSizeBytes;
  return sizeBytes === 0 ? undefined : createOverLimitCache({ statistics }, { sizeBytes });
}

/** The local cache stands before all stores. */
export function withLocalCache(
  counters: Counters,
  cache: OverLimitCache | undefined,
  publishInvalidation?: PublishInvalidation,
): Counters {
  return cache === undefined ? counters : withOverLimitCache(counters, cache, publishInvalidation);
}
