import { describeLimit, isPlain } from './describe-limit';
import type { RuleLevel, RuleNode, Rules } from './rules';

/**
 * One line for each limit, as `/rlconfig` prints it:
 * `shop.user_ann.path: unit=HOUR requests_per_unit=2, shadow_mode: false, quota_mode: false`; of a limit
 * that is more than hits per unit also in words: `, limit: 600 per 5 minutes, bursts of 20`.
 */
export function dumpRules(rules: Rules): readonly string[] {
  const lines: string[] = [];
  for (const { domain, top } of rules.domains.values()) dumpLevel(top, domain, lines);
  return lines;
}

function dumpLevel(level: RuleLevel, path: string, lines: string[]): void {
  const keys = level instanceof Map ? level.values() : [level];
  for (const { key, byValue, wildcards, anyValue } of keys) {
    for (const [value, node] of byValue ?? []) dumpNode(node, `${path}.${key}_${value}`, lines);
    for (const { pattern, node } of wildcards?.inOrder ?? [])
      dumpNode(node, `${path}.${key}_${pattern}`, lines);
    if (anyValue !== undefined) dumpNode(anyValue, `${path}.${key}`, lines);
  }
}

function dumpNode({ limit, children }: RuleNode, path: string, lines: string[]): void {
  if (limit !== undefined) {
    const unit = limit.unlimited ? 'UNKNOWN' : limit.unit;
    const words = isPlain(limit) ? '' : `, limit: ${describeLimit(limit)}`;
    lines.push(
      `${path}: unit=${unit} requests_per_unit=${String(limit.requestsPerUnit)}, shadow_mode: ${String(limit.shadowMode)}, quota_mode: ${String(limit.quotaMode)}${words}`,
    );
  }
  if (children !== undefined) dumpLevel(children, path, lines);
}
