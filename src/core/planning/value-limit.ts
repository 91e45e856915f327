import type { Entry } from '../model';
import type { LimitsFrom } from '../ports';
import type { Match } from '../rules/match';
import { shownValue, type Secrets } from '../rules/secrets';

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
  const last = match.entries.at(-1) as Entry;
  const value = secrets === undefined ? last.value : shownValue(secrets, last);
  const said = limits.limitOf(rule, rule.field ?? value);
  return said === undefined ? match : { ...match, limit: rule.limitFor(said) };
}
