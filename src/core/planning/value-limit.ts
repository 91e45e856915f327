import type { DecisionRequest, Entry } from '../model';
import type { LimitsFrom } from '../ports';
import { matchDescriptor, type Match } from '../rules/match';
import type { BudgetLimits, LimitsFromRule, RuleLimit, Rules } from '../rules/rules';
import { redactedValue, type Secrets } from '../rules/secrets';

/**
 * The match with its value's own limit; the same match while that is unknown, and for a rule without `limits_from`. A secret value
 * is looked up by its current token.
 */
export function withValueLimit(
  match: Match,
  limits: LimitsFrom,
  secrets: Secrets | undefined,
): Match {
  const { budget, limitsFrom: rule } = match.limit;
  if (budget !== undefined) return withLimitsOfEntries(match, budget, limits, secrets);
  if (rule === undefined) return match;
  const valueLimit = limits.limitOf(rule, fieldOf(rule, match.entries, secrets));
  return valueLimit === undefined ? match : { ...match, limit: rule.limitFor(valueLimit) };
}

/** As above, for a rule with several limits: those that the value's limit lifts do not apply. */
function withLimitsOfEntries(
  match: Match,
  { chosen, withEntries }: BudgetLimits,
  limits: LimitsFrom,
  secrets: Secrets | undefined,
): Match {
  const own = chosen.map((one) => {
    const rule = one?.limitsFrom;
    if (rule === undefined) return one;
    const valueLimit = limits.limitOf(rule, fieldOf(rule, match.entries, secrets));
    if (valueLimit === undefined) return one;
    return valueLimit === 'unlimited' ? undefined : rule.limitFor(valueLimit);
  });
  if (own.every((one, at) => one === chosen[at])) return match;
  const limit = withEntries(own);
  return { ...match, limit: limit ?? { ...match.limit, unlimited: true } };
}

/** The field of the hash with the limit for these entries; a secret value is named by its current token. */
export function fieldOf(
  { field }: LimitsFromRule,
  entries: readonly Entry[],
  secrets: Secrets | undefined,
): string {
  if (field !== undefined) return field;
  const last = entries.at(-1) as Entry;
  return secrets === undefined ? last.value : redactedValue(secrets, last);
}

/** Reads the limits of a request's values now, for operators; decisions do not wait for them. */
export async function readValueLimits(
  { domains, hasLimitsFrom, secrets }: Rules,
  { domain, descriptors }: DecisionRequest,
  limits: LimitsFrom | undefined,
): Promise<void> {
  const rules = domains.get(domain);
  if (limits === undefined || rules === undefined || !hasLimitsFrom) return;
  await Promise.all(
    descriptors.map(async (descriptor) => {
      const match = matchDescriptor(rules, descriptor);
      if (typeof match !== 'object') return;
      for (const rule of sourcesOf(match.limit))
        await limits.read(rule, fieldOf(rule, match.entries, secrets));
    }),
  );
}

function sourcesOf({ budget, limitsFrom }: RuleLimit): readonly LimitsFromRule[] {
  const all = budget?.chosen.map((one) => one?.limitsFrom) ?? [limitsFrom];
  return all.filter((one) => one !== undefined);
}
