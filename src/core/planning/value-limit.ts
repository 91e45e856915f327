import type { Entry } from '../model';
import type { LimitsFrom } from '../ports';
import type { LimitsFromRule } from '../rules/rules';
import type { Match } from '../rules/match';

/** The match with the limit that its value has of its own; the same match while none is known. */
export function withValueLimit(match: Match, rule: LimitsFromRule, limits: LimitsFrom): Match {
  const last = match.entries.at(-1) as Entry;
  const said = limits.limitOf(rule, rule.field ?? last.value);
  return said === undefined ? match : { ...match, limit: rule.limitFor(said) };
}
