import type { DomainRules, RuleLevel, RuleLimit, RuleNode, Rules } from '../rules/rules';
import { limitWords } from '../rules/describe-limit';
import type { LimitExplanation } from './explanation';
import { placeOf } from './explain-path';

/** One limit of the rules in force. */
export interface ListedRule {
  /** Its position, from 0. */
  readonly id: number;
  readonly domain: string;
  /** The entries on the way to it: `user=ann`, `path`. */
  readonly path: readonly string[];
  readonly at?: string;
  readonly limit: Omit<LimitExplanation, 'at' | 'source'> & {
    readonly unlimited: boolean;
    readonly replaces: readonly string[];
  };
  /** As far as the rule file alone says it. */
  readonly metric: string;
}

/** The limits in the order of `/rlconfig`, from a position on. */
export function listRules(rules: Rules, offset: number, most: number): readonly ListedRule[] {
  const found: ListedRule[] = [];
  let id = 0;
  for (const { domain, path, node, limit } of limitsOf(rules)) {
    if (found.length >= most) break;
    if (id >= offset) {
      const { metric } = limit;
      const listed = { id, domain, path, ...placeOf(node, rules.places) };
      found.push({ ...listed, limit: fieldsOf(limit), metric });
    }
    id += 1;
  }
  return found;
}

interface Found {
  readonly domain: string;
  readonly path: readonly string[];
  readonly node: RuleNode;
  readonly limit: RuleLimit;
}

function* limitsOf({ domains }: Rules): Generator<Found, void> {
  for (const { domain, top } of domains.values()) yield* limitsBelow(top, domain, []);
}

function* limitsBelow(
  level: RuleLevel,
  domain: DomainRules['domain'],
  above: readonly string[],
): Generator<Found, void> {
  for (const [rule, node] of nodesOf(level)) {
    const path = [...above, rule];
    if (node.limit !== undefined) yield { domain, path, node, limit: node.limit };
    if (node.children !== undefined) yield* limitsBelow(node.children, domain, path);
  }
}

function* nodesOf(level: RuleLevel): Generator<readonly [string, RuleNode], void> {
  for (const { key, byValue, wildcards, anyValue } of level instanceof Map
    ? level.values()
    : [level]) {
    for (const [value, node] of byValue ?? []) yield [`${key}=${value}`, node];
    for (const { pattern, node } of wildcards?.inOrder ?? []) yield [`${key}=${pattern}`, node];
    if (anyValue !== undefined) yield [key, anyValue];
  }
}

function fieldsOf(limit: RuleLimit): ListedRule['limit'] {
  const { requestsPerUnit, unit, unlimited, shadowMode, quotaMode, name, replaces } = limit;
  const algorithm = limit.algorithm?.name ?? 'fixed_window';
  const named = name === '' ? {} : { name };
  const counted = { requestsPerUnit, unit, unlimited, algorithm, ...limitWords(limit) };
  return { ...counted, shadowMode, quotaMode, ...named, replaces };
}
