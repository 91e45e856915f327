import type { Entry } from '../model';
import type { LimitsFrom } from '../ports';
import type { Match } from '../rules/match';

/** The match with the limit that its value has of its own; the same match while none is known, and of a rule without such limits. */
export function withValueLimit(match: Match, limits: LimitsFrom): Match {
  const rule = match.limit.limitsFrom;
  if (rule === undefined) return match;
  const last = match.entries.at(-1) as Entry;
  const said = limits.limitOf(rule, rule.field ?? last.value);
  return said === undefined ? match : { ...match, limit: rule.limitFor(said) };
}
