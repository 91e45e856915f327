import type { KeyRules, RuleLevel, RuleLimit, RuleNode, Rules } from '../../core/rules/rules';
import type { Secrets } from '../../core/rules/secrets';
import { windowStart } from '../../core/units';
import { keyAt, type SecretKey } from '../../platform/secret-keys/parse-secret-keys';

/** The Unix second that selects the key of a counter at a moment. */
type KeySecond = (nowSeconds: number) => number;

/** The ids of the keys under which the rules count at a moment, ascending; those of limits in requests are unknown. */
export function createIdsInUse(): (
  rules: Rules | undefined,
  keys: readonly SecretKey[],
  nowSeconds: number,
) => readonly number[] {
  let known: Rules | undefined;
  let seconds: readonly KeySecond[] = [];
  return (rules, keys, nowSeconds) => {
    if (rules !== known) {
      known = rules;
      seconds = rules === undefined ? [] : keySecondsOf(rules);
    }
    const ids = seconds.map((second) => keyAt(keys, second(nowSeconds))?.id);
    return [...new Set(ids.filter((id) => id !== undefined))].sort((a, b) => a - b);
  };
}

/** One for each kind of window among the limits below a keyed secret. */
function keySecondsOf({ domains, secrets }: Rules): readonly KeySecond[] {
  const found = new Map<unknown, KeySecond>();
  if (secrets !== undefined)
    for (const { top } of domains.values()) visit(top, false, secrets, found);
  return [...found.values()];
}

function visit(
  level: RuleLevel,
  isBelow: boolean,
  secrets: Secrets,
  found: Map<unknown, KeySecond>,
): void {
  for (const rules of level instanceof Map ? level.values() : [level]) {
    const isSecret = isBelow || secrets.kinds.get(rules.key) === 'keyed';
    for (const { limit, children } of nodesOf(rules)) {
      if (isSecret) note(limit, found);
      if (children !== undefined) visit(children, isSecret, secrets, found);
    }
  }
}

function nodesOf({ byValue, wildcards, anyValue }: KeyRules): readonly RuleNode[] {
  const exact = [...(byValue?.values() ?? [])];
  const others = (wildcards?.inOrder ?? []).map(({ node }) => node);
  return anyValue === undefined ? [...exact, ...others] : [...exact, ...others, anyValue];
}

function note(limit: RuleLimit | undefined, found: Map<unknown, KeySecond>): void {
  if (limit === undefined || limit.unlimited) return;
  const { limiter, windowAt, unit } = limit;
  if (limiter.keyEnd !== undefined) found.set('now', (now) => now);
  else if (windowAt !== undefined) found.set(windowAt, (now) => windowAt(now).startSeconds);
  else found.set(unit, (now) => windowStart(unit, Math.floor(now)));
}
