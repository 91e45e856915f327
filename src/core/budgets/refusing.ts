import type { BudgetState } from '../kinds/state';
import type { BudgetEntry, BudgetLimiter } from './budget';
import { outcomeOfBudget } from './outcome';

/** Why a single hit is refused, as its answer would say. */
export interface OneRefused {
  /** The limit that refuses it for longest. */
  readonly limit: number;
  readonly used: number;
  readonly resetSeconds: number;
}

/**
 * Whether a counter refuses a single hit now, or a single reservation where the rule takes these; undefined: it does not. Blocks
 * that this hit itself would begin are not considered.
 */
export function refusalOfOne(
  { budget }: Pick<BudgetLimiter, 'budget'>,
  state: BudgetState,
  second: number,
): OneRefused | undefined {
  const mode = budget.reserve === undefined ? 'charge' : 'reserve';
  const blocks = budget.blocks.map((terms) => ({ ...terms, after: Infinity }));
  const asked = outcomeOfBudget({ ...budget, blocks }, state, { hits: 1, mode }, second);
  if (!asked.isOver) return undefined;
  const { used, resetSeconds, entry } = asked;
  return { limit: (budget.entries[entry] as BudgetEntry).limiter.limit, used, resetSeconds };
}
