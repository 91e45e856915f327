import type { Statistics } from '../../core/ports';
import {
  createCircuitBreaker,
  type BreakerChange,
  type CircuitBreaker,
} from '../../counters/circuit-breaker/circuit-breaker';
import type { OutageLog } from '../outage-log';

export interface BreakersDeps {
  readonly monotonicMs: () => number;
  readonly statistics: Statistics;
  readonly outages: OutageLog;
}

const LEVELS = { closed: 0, 'half-open': 1, open: 2 } as const;

/** The breakers of one store: one, or one for each node of a cluster. Exposes the worst state as the gauge `<prefix>.breaker_state`: 0 closed, 1 half-open, 2 open. */
export function createBreakers(prefix: string, { monotonicMs, statistics, outages }: BreakersDeps) {
  const breakers = new Map<string, CircuitBreaker>();
  const close = statistics.gauge(`${prefix}.breaker_state`, () =>
    Math.max(0, ...[...breakers.values()].map(({ state }) => LEVELS[state])),
  );
  return {
    /** Whether one of them is open, or passes only a probe. */
    areOpen: () => [...breakers.values()].some(({ state }) => state !== 'closed'),
    /** The breaker of the store or node with this name; the log reports its changes. */
    breakerOf(name: string) {
      const lines = {
        level: 'warn',
        failing: `${name}: circuit breaker open; retrying periodically`,
        ended: `${name}: circuit breaker closed`,
      } as const;
      const onChange = (change: BreakerChange): void => {
        const outage = `breaker ${name}`;
        if (change.kind === 'closed') outages.succeeded(outage);
        else outages.failed(outage, lines, { reason: change.reason });
      };
      const breaker = createCircuitBreaker({ monotonicMs, onChange });
      breakers.set(name, breaker);
      return breaker;
    },
    /** The name does not exist any more. */
    forget: (name: string) => breakers.delete(name),
    /** Unregisters the gauge. */
    close,
  };
}
