import type { DomainRules, RuleLevel, RuleLimit, RuleNode, Rules } from '../rules/rules';
import { valueOf } from './candidates';
import { overlaysOf, placeOf } from './explain-path';
import { limitFields } from './limit-fields';

export interface ListedRule {
  /** Its position, from 0. */
  readonly id: number;
  readonly domain: string;
  /** The entries on the way to it: `user=ann`, `path`. */
  readonly path: readonly string[];
  readonly at?: string;
  /** What it has from overlays, for people. */
  readonly overlays?: readonly string[];
  /** A refused request charges no counter of the domain's rules. */
  readonly charge?: 'together';
  readonly limit: ReturnType<typeof limitFields> & {
    readonly unlimited: boolean;
    readonly replaces: readonly string[];
  };
  /** The part that the rule file alone determines. */
  readonly metric: string;
}

/** Rules skipped per step, on the way to those that are listed. */
const PASSED_IN_STEP = 256;

/** The limits in the order of `/rlconfig`, from a position on; undefined: the position is not reached yet. */
export function* listRules(
  rules: Rules,
  offset: number,
  most: number,
): Generator<ListedRule | undefined, void> {
  let id = 0;
  let passed = 0;
  for (const { domain, above, rule, node } of rulesOf(rules)) {
    passed += 1;
    if (passed % PASSED_IN_STEP === 0) yield undefined;
    const { limit } = node;
    if (limit === undefined || limit.reservation !== undefined) continue;
    if (id >= offset + most) return;
    if (id >= offset) {
      const { metric } = limit;
      const path = pathOf(above, rule);
      const listed = {
        id,
        domain,
        path,
        ...placeOf(node, rules.places),
        ...overlaysOf(rules.places.get(node)),
        ...chargeOf(rules, domain),
      };
      yield { ...listed, limit: fieldsOf(limit), metric };
    }
    id += 1;
  }
}

export function chargeOf({ domains }: Rules, domain: string): Pick<ListedRule, 'charge'> {
  return domains.get(domain)?.isChargedTogether === true ? { charge: 'together' } : {};
}

interface Found {
  readonly domain: string;
  readonly above: Above | undefined;
  readonly rule: string;
  readonly node: RuleNode;
}

/** The path to a level. It is written down only for limits that are listed. */
interface Above {
  readonly rule: string;
  readonly above: Above | undefined;
}

function* rulesOf({ domains }: Rules): Generator<Found, void> {
  for (const { domain, top } of domains.values()) yield* rulesBelow(top, domain, undefined);
}

function* rulesBelow(
  level: RuleLevel,
  domain: DomainRules['domain'],
  above: Above | undefined,
): Generator<Found, void> {
  for (const [rule, node] of nodesOf(level)) {
    yield { domain, above, rule, node };
    if (node.children !== undefined) yield* rulesBelow(node.children, domain, { rule, above });
  }
}

function pathOf(above: Above | undefined, rule: string): readonly string[] {
  return above === undefined ? [rule] : [...pathOf(above.above, above.rule), rule];
}

function* nodesOf(level: RuleLevel): Generator<readonly [string, RuleNode], void> {
  for (const { key, byValue, wildcards, anyValue } of level instanceof Map
    ? level.values()
    : [level]) {
    for (const node of byValue?.values() ?? []) yield [`${key}=${valueOf(key, node)}`, node];
    for (const { pattern, node } of wildcards?.inOrder ?? []) yield [`${key}=${pattern}`, node];
    if (anyValue !== undefined) yield [key, anyValue];
  }
}

function fieldsOf(limit: RuleLimit): ListedRule['limit'] {
  const { unlimited, replaces } = limit;
  return { ...limitFields(limit), unlimited, replaces };
}
