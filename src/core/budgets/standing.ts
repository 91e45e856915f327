import type { BudgetState } from '../kinds/state';
import { advanceBudget, unusedBudget, type Lapse, type Moment } from './advance';
import type { Budget } from './budget';
import { stateOf } from './record';

/** A counter as a store keeps it, and which of its leases have ended since it was written. */
export interface Kept {
  /** Undefined: there is none. */
  readonly record: string | undefined;
  /** As the last call left them. */
  readonly held?: number;
  readonly open?: number;
  /** In the order of their ends. */
  readonly lapses: readonly Lapse[];
}

/** Where the next call would find it; undefined: its record was not written by this kind. */
export function standingOf(
  budget: Budget,
  { record, held = 0, open = 0, lapses }: Kept,
  moment: Moment,
): BudgetState | undefined {
  const [first] = lapses;
  // No further than to the first end: what that charges drains from then on.
  const then = first === undefined ? moment : { ...moment, micros: first.endMs * 1_000 };
  const kept = record === undefined ? unusedBudget(budget, then) : stateOf(budget, record, then);
  return kept && advanceBudget(budget, { ...kept, held, open }, lapses, moment);
}
