import { isBudgetLimiter, type BudgetLimiter } from '../budgets/budget';
import type { Limiter } from '../kinds/kind';
import type { BudgetLimits, RuleLimit, RuleNode } from './rules';

/**
 * The two entries that may follow that of a rule with `reserve`: they count under its name, whatever their value (budgets.md
 * section 4). None for other rules.
 */
export function reservationNodes(above: RuleNode): ReadonlyMap<string, RuleNode> {
  const { limit } = above;
  const nodes = new Map<string, RuleNode>();
  if (limit === undefined || !hasReservations(limit.limiter)) return nodes;
  for (const key of ['reserve', 'settle'] as const) nodes.set(key, nodeBelow(above, limit, key));
  return nodes;
}

/** Whether the counters of a rule may reserve hits. */
export function hasReservations(limiter: Limiter): limiter is Limiter & BudgetLimiter {
  return isBudgetLimiter(limiter) && limiter.budget.reserve !== undefined;
}

function nodeBelow(above: RuleNode, limit: RuleLimit, key: 'reserve' | 'settle'): RuleNode {
  return {
    literal: above.isDynamic ? '' : above.literal,
    isDynamic: false,
    parent: above.isDynamic ? above : above.parent,
    depth: above.depth + 1,
    limit: asReservation(limit, key),
    children: undefined,
    sharedPattern: above.sharedPattern,
    segment: above.segment,
    valueToMetric: false,
    dynamicMetric: above.dynamicMetric,
    isOnSharedPath: above.isOnSharedPath,
  };
}

/** Combinations of limits are few, see `withBudget`. */
const MAX_KEPT = 256;

/** The limit for descriptors of reservations, whichever of its limits apply. */
function asReservation(limit: RuleLimit, reservation: 'reserve' | 'settle'): RuleLimit {
  const budget = limit.budget as BudgetLimits;
  const kept = new Map<RuleLimit, RuleLimit>();
  const withEntries: BudgetLimits['withEntries'] = (entries) => {
    const changed = budget.withEntries(entries);
    if (changed === undefined) return undefined;
    const known = kept.get(changed);
    if (known !== undefined) return known;
    if (kept.size === MAX_KEPT) kept.clear();
    const made = asReservation(changed, reservation);
    kept.set(changed, made);
    return made;
  };
  const ofRule = limit.ofRule ?? limit;
  return { ...limit, ofRule, reservation, budget: { ...budget, withEntries } };
}
