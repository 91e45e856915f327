import { isBudgetLimiter } from '../../core/budgets/budget';
import { budgetFields } from '../../core/explain/limit-fields';
import { burstOf } from '../../core/kinds/limiter';
import type { State } from '../../core/kinds/kind';
import { rateWords } from '../../core/rules/describe-limit';
import type { RuleLimit } from '../../core/rules/rules';

/** The state of a counter with several limits, reservations or blocks, for a page. */
export interface BudgetStanding {
  readonly limits: readonly LimitUse[];
  /** Open reservations and their hits; absent for a rule without reservations. */
  readonly open?: number;
  readonly held?: number;
  /** Seconds until its block ends; absent while it is not blocked. */
  readonly blockedSeconds?: number;
}

/** The usage of one limit, reserved hits and slots included: 2 of 4 `in flight`, 30 of 50 `per hour`. */
export interface LimitUse {
  readonly used: number;
  readonly of: number;
  readonly words: string;
}

/** Undefined: the rule has one limit. */
export function budgetStanding(
  rule: RuleLimit,
  state: State,
  second: number,
): BudgetStanding | undefined {
  const fields = budgetFields(rule, { state }, second);
  const { limiter, budget } = rule;
  if (fields === undefined || budget === undefined || !isBudgetLimiter(limiter)) return undefined;
  const { open, held, blockedSeconds } = fields;
  const limits = fields.limits.map(({ name, remaining }): LimitUse => {
    const at = budget.names.indexOf(name);
    const limit = budget.entries[at] as RuleLimit;
    const of = limiter.budget.entries[at]?.limiter.size ?? limit.requestsPerUnit;
    return { used: of - remaining, of, words: wordsOf(limit) };
  });
  return {
    limits,
    ...(open !== undefined && { open, held }),
    ...(blockedSeconds !== undefined && { blockedSeconds }),
  };
}

/** With a burst, the rate differs from the number of hits that fit at once. */
function wordsOf(limit: RuleLimit): string {
  const words = rateWords(limit);
  const burst = burstOf(limit.limiter);
  return burst === undefined || burst === limit.requestsPerUnit
    ? words
    : `at once, ${limit.requestsPerUnit.toLocaleString('en')} ${words}`;
}
