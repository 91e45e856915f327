import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { DomainDefinition, RuleDefinition } from '../../src/core/rules/definition';

const LIMIT = { unlimited: false, name: '', replaces: [] };
const RULE = {
  parent: -1,
  key: 'k',
  shadowMode: false,
  quotaMode: false,
  detailedMetric: false,
  valueToMetric: false,
  shareThreshold: false,
};

const beyond = (said: object, plain: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(said).filter(([name, value]) => !isDeepStrictEqual(value, plain[name])),
  );

/** What a rule says beyond one of the key `k` that says nothing. With a budget, its limit is the first of it. */
function said({ limit, budget, ...rest }: RuleDefinition): object {
  const rule = beyond({ ...rest, place: undefined }, RULE);
  if (budget === undefined) return { ...rule, ...(limit && { limit: beyond(limit, LIMIT) }) };
  expect(limit).toBe(budget.limits[0]);
  const limits = budget.limits.map((one) => beyond(one, LIMIT));
  return { ...rule, budget: { ...beyond(budget, {}), limits } };
}

/** What domains say, in the lines of a table: `domain NAME` unless it is x, `charged together`, and what each rule says. */
export function toLines(domains: readonly DomainDefinition[]): readonly unknown[] {
  return domains.flatMap(({ domain, isChargedTogether, rules }) => [
    ...(domain === 'x' ? [] : [`domain ${domain}`]),
    ...(isChargedTogether === true ? ['charged together'] : []),
    ...rules.map(said),
  ]);
}

/** The lines of a table, in which `= key: a, limit: {unit: DAY}` is a rule. */
export function readLines(lines: readonly string[]): readonly unknown[] {
  return lines.map((line) =>
    line.startsWith('=') ? (parse(`{${line.slice(1)}}`) as object) : line,
  );
}
