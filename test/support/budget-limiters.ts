import { unusedBudget } from '../../src/core/budgets/advance';
import type { Budget, BudgetLimiter } from '../../src/core/budgets/budget';
import type { BudgetState, Limiter } from '../../src/core/kinds/kind';
import type { BlockState } from '../../src/core/kinds/state';
import type { KeyRules } from '../../src/core/rules/rules';
import { budgetOf, type LimitSketch } from './budgets';
import { rulesOf, type RuleSketch } from './rules';

/** The limiter of a rule with these limits, as it is compiled. */
export function limiterOfLimits(
  limits: readonly LimitSketch[],
  more: Parameters<typeof budgetOf>[1] = {},
  rule: Partial<RuleSketch> = {},
): Limiter<BudgetState> & BudgetLimiter {
  const rules = rulesOf('d', [{ key: 'k', ...rule, ...budgetOf(limits, more) }]);
  const { anyValue } = rules.domains.get('d')?.top as KeyRules;
  return anyValue?.limit?.limiter as Limiter<BudgetState> & BudgetLimiter;
}

/** The second at which the counters of these tests stand: a minute and an hour begin there, no day. */
export const START = 1_795_240_800;

/** The same moment by both clocks, so many seconds later. */
export function momentAfter(seconds: number) {
  return { micros: (START + seconds) * 1_000_000, nowSeconds: START + seconds };
}

/** A counter at START of which each limit has so many hits in use. */
export function standing(
  budget: Budget,
  used: readonly number[],
  changes: Partial<BudgetState> = {},
): BudgetState {
  const unused = unusedBudget(budget, momentAfter(0));
  const entries = unused.entries.map((one, at) => {
    const { limiter } = budget.entries[at] as Budget['entries'][number];
    return { ...one, ...limiter.kind.take(limiter, one, used[at] ?? 0) };
  });
  return { ...unused, entries, ...changes };
}

/** A block that lasts for so many seconds from START. */
export function blockFor(seconds: number): BlockState {
  const untilMs = (START + seconds) * 1_000;
  return { strikes: 0, spanEndMs: 0, untilMs, tookMs: seconds * 1_000, quietMs: untilMs };
}
