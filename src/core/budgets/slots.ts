import { fixed } from '../kinds/fixed';
import type { CounterState, Kind } from '../kinds/kind';

/**
 * `in_flight` (budgets.md section 5) as a limit beside others: `used` are the open reservations, which these take and free. Hits
 * change nothing.
 */
export const slots = {
  ...fixed,
  letter: 'i',
  words: { name: 'in_flight', feature: 'algorithm: in_flight', ofGate: () => [] },
  serves: () => false,
  take: (_, state) => state,
} as const satisfies Kind<CounterState>;
