import type { RuleLimit } from '../core/rules/rules';

/** The index of the limit with this name among those of its rule; undefined: no name given, or the rule has no such limit. */
export function placeOf({ budget }: RuleLimit, limit: string | undefined): number | undefined {
  const at = limit === undefined ? -1 : (budget?.names.indexOf(limit) ?? -1);
  return at === -1 ? undefined : at;
}
