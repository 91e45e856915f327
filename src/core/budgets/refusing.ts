import type { BudgetState } from '../kinds/state';
import type { BudgetEntry, BudgetGate } from './budget';
import { outcomeOfBudget } from './outcome';

/** Why one hit is refused, as its answer would say. */
export interface OneRefused {
  /** Of the limit that refuses it for longest. */
  readonly limit: number;
  readonly used: number;
  readonly resetSeconds: number;
}

/**
 * Whether a counter refuses one hit now, or one reservation where the rule takes these; undefined: it does not. Only a block that
 * lasts counts, none that this hit would begin.
 */
export function refusalOfOne(
  { budget }: Pick<BudgetGate, 'budget'>,
  state: BudgetState,
  second: number,
): OneRefused | undefined {
  const mode = budget.reserve === undefined ? 'ask' : 'reserve';
  const blocks = budget.blocks.map((terms) => ({ ...terms, after: Infinity }));
  const asked = outcomeOfBudget({ ...budget, blocks }, state, { hits: 1, mode }, second);
  if (!asked.isOver) return undefined;
  const { used, resetSeconds, entry } = asked;
  return { limit: (budget.entries[entry] as BudgetEntry).gate.limit, used, resetSeconds };
}
