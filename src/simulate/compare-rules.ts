import { describeLimit } from '../core/rules/describe-limit';
import { dumpLimit, listLimits, type LimitPlace } from '../core/rules/dump';
import type { Rules } from '../core/rules/rules';

/** A rule that both sets have, with its limit in each. */
export interface ChangedLimit {
  readonly rule: string;
  /** In words: `5 per minute, shadow mode`. */
  readonly first: string;
  readonly second: string;
}

/** The differences between the rules themselves, whatever the log contains. */
export function compareRules(first: Rules, second: Rules) {
  const [before, after] = [byPath(first), byPath(second)];
  const changedLimits: ChangedLimit[] = [];
  for (const [rule, place] of before) {
    const other = after.get(rule);
    if (other === undefined) continue;
    const [from, to] = [words(place), words(other)];
    if (from !== to) changedLimits.push({ rule, first: from, second: to });
  }
  return {
    changedLimits,
    onlyInFirst: missingIn(after, before),
    onlyInSecond: missingIn(before, after),
  };
}

export type RuleDifferences = ReturnType<typeof compareRules>;

function byPath(rules: Rules): ReadonlyMap<string, LimitPlace> {
  return new Map(listLimits(rules).map((place) => [place.path, place]));
}

function missingIn(
  others: ReadonlyMap<string, LimitPlace>,
  places: ReadonlyMap<string, LimitPlace>,
): readonly string[] {
  return [...places.values()].filter(({ path }) => !others.has(path)).map(dumpLimit);
}

function words({ limit, isChargedTogether }: LimitPlace): string {
  const { shadowMode, quotaMode } = limit;
  return [
    describeLimit(limit),
    ...(shadowMode ? ['shadow mode'] : []),
    ...(quotaMode ? ['quota mode'] : []),
    ...(isChargedTogether ? ['charge: together'] : []),
  ].join(', ');
}
