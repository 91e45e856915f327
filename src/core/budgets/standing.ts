import type { BudgetState } from '../kinds/state';
import { advanceBudget, unusedBudget, type Lapse, type Moment } from './advance';
import type { Budget } from './budget';
import { stateOf } from './record';

/** A counter as a store keeps it, and its leases that have expired since it was written. */
export interface Kept {
  /** Undefined: there is no record. */
  readonly record: string | undefined;
  /** Reserved hits after the last call. */
  readonly held?: number;
  readonly open?: number;
  /** In the order of their expiry. */
  readonly lapses: readonly Lapse[];
}

/** The counter as the next call would read it; undefined: another kind wrote its record. */
export function standingOf(
  budget: Budget,
  { record, held = 0, open = 0, lapses }: Kept,
  moment: Moment,
): BudgetState | undefined {
  const [first] = lapses;
  // Advance only to the first expiry: what that charges drains from then on.
  const then = first === undefined ? moment : { ...moment, micros: first.endMs * 1_000 };
  const kept = record === undefined ? unusedBudget(budget, then) : stateOf(budget, record, then);
  return kept && advanceBudget(budget, { ...kept, held, open }, lapses, moment);
}
