import type { BlockState, BudgetState, EntryState } from '../kinds/state';
import { unusedBudget, type Moment } from './advance';
import { NO_BLOCK } from './block';
import type { Budget } from './budget';
import { changedState } from './states';

/**
 * A counter that was kept under other limits: those that are still there keep what was used, found by their ids and their blocks
 * by whose refusals they count; new ones start empty, others go (budgets.md section 8).
 */
export function underBudget(
  budget: Budget,
  kept: { readonly budget: Budget; readonly state: BudgetState },
  moment: Moment,
): BudgetState {
  if (kept.budget === budget) return kept.state;
  const { state } = kept;
  const unused = unusedBudget(budget, { ...moment, micros: state.atMicros });
  const entries = budget.entries.map(({ id }, at): EntryState => {
    const old = kept.budget.entries.findIndex((one) => one.id === id);
    return (old === -1 ? unused.entries[at] : state.entries[old]) as EntryState;
  });
  const blocks = budget.blocks.map(({ entry }): BlockState => {
    const old = kept.budget.blocks.findIndex((one) => one.entry === entry);
    return old === -1 ? NO_BLOCK : (state.blocks[old] as BlockState);
  });
  return changedState(state, { entries, blocks });
}
