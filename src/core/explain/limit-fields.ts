import { describeEntry, limitWords, unitOf, zoneDataText } from '../rules/describe-limit';
import { isHolding, type BudgetLimits, type RuleLimit } from '../rules/rules';
import type { EntryExplanation, LimitExplanation } from './explanation';

/** Fields of every limit in explanations and lists; for several limits those of the longest period, and all of them. */
export function limitFields(
  limit: RuleLimit,
): Omit<LimitExplanation, 'source' | 'at' | 'limitsFrom'> {
  const { shadowMode, quotaMode, name, budget } = limit;
  const reported = budget?.entries.find(({ current }) => current === limit.current) ?? limit;
  const timeZoneData = zoneDataText(limit);
  return {
    ...rateOf(reported),
    ...limitWords(limit),
    ...(timeZoneData !== undefined && { timeZoneData }),
    ...(budget !== undefined && { limits: entryFields(budget) }),
    shadowMode,
    quotaMode,
    ...(name !== '' && { name }),
  };
}

function rateOf(
  limit: RuleLimit,
): Pick<EntryExplanation, 'requestsPerUnit' | 'unit' | 'algorithm'> {
  const { requestsPerUnit, limiter } = limit;
  return { requestsPerUnit, unit: unitOf(limit), algorithm: limiter.kind.words.name };
}

function entryFields(budget: BudgetLimits): readonly EntryExplanation[] {
  return budget.entries.flatMap((limit, at) =>
    isHolding(budget, at)
      ? [{ name: budget.names[at] ?? '', ...rateOf(limit), words: describeEntry(limit) }]
      : [],
  );
}
