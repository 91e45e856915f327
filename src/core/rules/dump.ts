import { describeLimit, isPlain } from './describe-limit';
import type { RuleLevel, RuleLimit, RuleNode, Rules } from './rules';

/** A limit and the path of keys and values that leads to it: `shop.user_ann.path`. */
export interface LimitPlace {
  readonly path: string;
  readonly limit: RuleLimit;
}

/**
 * One line for each limit, as `/rlconfig` prints it:
 * `shop.user_ann.path: unit=HOUR requests_per_unit=2, shadow_mode: false, quota_mode: false`; of a limit
 * that is more than hits per unit also in words: `, limit: 600 per 5 minutes, bursts of 20`.
 */
export function dumpRules(rules: Rules): readonly string[] {
  return listLimits(rules).map(dumpLimit);
}

/** The same, line by line; undefined: a rule without a limit. */
export function* linesOfRules(rules: Rules): Generator<string | undefined, void> {
  for (const place of limitsOf(rules)) yield place && dumpLimit(place);
}

/** All limits, in the order of the rule files. */
export function listLimits(rules: Rules): readonly LimitPlace[] {
  return [...limitsOf(rules)].filter((place) => place !== undefined);
}

/** The line of one limit. */
export function dumpLimit({ path, limit }: LimitPlace): string {
  const unit = limit.unlimited ? 'UNKNOWN' : limit.unit;
  const words = isPlain(limit) ? '' : `, limit: ${describeLimit(limit)}`;
  return `${path}: unit=${unit} requests_per_unit=${String(limit.requestsPerUnit)}, shadow_mode: ${String(limit.shadowMode)}, quota_mode: ${String(limit.quotaMode)}${words}`;
}

/** Of each rule its limit, or that it has none. */
function* limitsOf({ domains }: Rules): Generator<LimitPlace | undefined, void> {
  for (const { domain, top } of domains.values()) yield* limitsOfLevel(top, domain);
}

function* limitsOfLevel(level: RuleLevel, path: string): Generator<LimitPlace | undefined, void> {
  const keys = level instanceof Map ? level.values() : [level];
  for (const { key, byValue, wildcards, anyValue } of keys) {
    for (const node of byValue?.values() ?? [])
      yield* limitsOfNode(node, `${path}.${node.segment}`);
    for (const { pattern, node } of wildcards?.inOrder ?? [])
      yield* limitsOfNode(node, `${path}.${key}_${pattern}`);
    if (anyValue !== undefined) yield* limitsOfNode(anyValue, `${path}.${key}`);
  }
}

function* limitsOfNode(
  { limit, children }: RuleNode,
  path: string,
): Generator<LimitPlace | undefined, void> {
  yield limit && { path, limit };
  if (children !== undefined) yield* limitsOfLevel(children, path);
}
