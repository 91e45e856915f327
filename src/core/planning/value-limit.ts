import type { DecisionRequest, Entry } from '../model';
import type { LimitsFrom } from '../ports';
import { matchDescriptor, type Match } from '../rules/match';
import type { LimitsFromRule, Rules } from '../rules/rules';
import { redactedValue, type Secrets } from '../rules/secrets';

/**
 * The match with the limit that its value has of its own; the same match while none is known, and of a rule without such limits.
 * A secret value is asked for by its token of now.
 */
export function withValueLimit(
  match: Match,
  limits: LimitsFrom,
  secrets: Secrets | undefined,
): Match {
  const rule = match.limit.limitsFrom;
  if (rule === undefined) return match;
  const said = limits.limitOf(rule, fieldOf(rule, match.entries, secrets));
  return said === undefined ? match : { ...match, limit: rule.limitFor(said) };
}

/** The field of the hash that holds the limit for these entries; a secret value is named by its token of now. */
export function fieldOf(
  { field }: LimitsFromRule,
  entries: readonly Entry[],
  secrets: Secrets | undefined,
): string {
  if (field !== undefined) return field;
  const last = entries.at(-1) as Entry;
  return secrets === undefined ? last.value : redactedValue(secrets, last);
}

/** Reads the limits of the values in a request now, for operators; decisions do not wait for them. */
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
      const rule = typeof match === 'object' ? match.limit.limitsFrom : undefined;
      if (rule !== undefined) await limits.read(rule, fieldOf(rule, descriptor.entries, secrets));
    }),
  );
}
