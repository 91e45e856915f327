import type { Increment } from '../../src/core/ports';
import { compileRules } from '../../src/core/rules/compile';
import type { LimitDefinition, RuleDefinition } from '../../src/core/rules/definition';
import type { KeyRules, RuleLimit, Rules } from '../../src/core/rules/rules';
import type { Unit } from '../../src/core/units';

/** A rule as a test writes it: nested, with what does not matter left out. */
export interface RuleSketch extends Partial<
  Omit<RuleDefinition, 'parent' | 'key' | 'value' | 'limit'>
> {
  readonly key: string;
  readonly value?: string;
  /** `[requests, unit]`, or more of a limit. */
  readonly limit?: readonly [number, Unit] | Partial<LimitDefinition>;
  readonly rules?: readonly RuleSketch[];
}

export function definitionsOf(sketches: readonly RuleSketch[]): RuleDefinition[] {
  const flat: RuleDefinition[] = [];
  const add = (parent: number, { key, value, limit, rules = [], ...flags }: RuleSketch) => {
    const index =
      flat.push({
        shadowMode: false,
        quotaMode: false,
        detailedMetric: false,
        valueToMetric: false,
        shareThreshold: false,
        metadata: undefined,
        ...flags,
        parent,
        key,
        value,
        limit: limitOf(limit),
      }) - 1;
    for (const rule of rules) add(index, rule);
  };
  for (const sketch of sketches) add(-1, sketch);
  return flat;
}

function limitOf(limit: RuleSketch['limit']): LimitDefinition | undefined {
  if (limit === undefined) return undefined;
  const plain = { unlimited: false, name: '', replaces: [] };
  if (isPair(limit)) return { ...plain, requestsPerUnit: limit[0], unit: limit[1] };
  return { ...plain, requestsPerUnit: 0, unit: undefined, ...limit };
}

function isPair(limit: NonNullable<RuleSketch['limit']>): limit is readonly [number, Unit] {
  return Array.isArray(limit);
}

/** Compiled rules of one domain. */
export function rulesOf(domain: string, sketches: readonly RuleSketch[]): Rules {
  return compileRules([{ domain, rules: definitionsOf(sketches) }]);
}

/** The limit of some rule, where it does not matter which. */
export const SOME_LIMIT: RuleLimit = soleLimit(rulesOf('d', [{ key: 'a', limit: [1, 'HOUR'] }]));

function soleLimit({ domains }: Rules): RuleLimit {
  const { anyValue } = domains.get('d')?.top as KeyRules;
  return anyValue?.limit as RuleLimit;
}

/** What an increment says of its rule, where it does not matter which. */
export const SOME_MATCH: Pick<Increment, 'rule' | 'entries'> = {
  rule: SOME_LIMIT,
  entries: [{ key: 'a', value: '' }],
};
