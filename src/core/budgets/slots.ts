import { fixed } from '../kinds/fixed';
import type { CounterState, Kind } from '../kinds/kind';

/**
 * `in_flight` (budgets.md section 5) in the shape of a kind: `used` is the number of open reservations, which opening and closing
 * change. Hits change nothing.
 */
export const slots = {
  ...fixed,
  letter: 'i',
  words: { name: 'in_flight', feature: 'algorithm: in_flight', ofLimiter: () => [] },
  serves: () => false,
  take: (_, state) => state,
} as const satisfies Kind<CounterState>;
