import type { Entry } from '../model';
import type { KeyRules, RuleLevel, RuleNode } from '../rules/rules';
import { findWildcards } from '../rules/wildcards';
import type { LevelExplanation } from './explanation';

/** A rule of one level that matches an entry. */
export interface Candidate {
  readonly node: RuleNode;
  readonly matched: LevelExplanation['matched'];
  /** In the notation of descriptors: `user=ann`, `path`. */
  readonly rule: string;
}

/** The rules of a level that match an entry. The first is the one that `findNode` takes. */
export function candidatesOf(level: RuleLevel, { key, value }: Entry): readonly Candidate[] {
  const rules = rulesOfKey(level, key);
  if (rules === undefined) return [];
  const { byValue, wildcards, anyValue } = rules;
  const exact = byValue?.get(value);
  const patterns = wildcards === undefined ? [] : findWildcards(wildcards, value);
  return [
    ...(exact === undefined
      ? []
      : [{ node: exact, matched: 'value' as const, rule: `${key}=${valueOf(key, exact)}` }]),
    ...patterns.map(({ pattern, node }) => ({
      node,
      matched: 'wildcard' as const,
      rule: `${key}=${pattern}`,
    })),
    ...(anyValue === undefined
      ? []
      : [{ node: anyValue, matched: 'any value' as const, rule: key }]),
  ];
}

export function rulesOfKey(level: RuleLevel, key: string): KeyRules | undefined {
  if (level instanceof Map) return level.get(key);
  return level.key === key ? level : undefined;
}

/** The keys of a level, in the order of the file. */
export function keysOf(level: RuleLevel): Iterable<string> {
  return level instanceof Map ? level.keys() : [level.key];
}

/** Values and patterns of a key, in the order of the file. */
export function* valuesOf({ key, byValue, wildcards }: KeyRules): Generator<string, void> {
  for (const node of byValue?.values() ?? []) yield valueOf(key, node);
  for (const { pattern } of wildcards?.inOrder ?? []) yield pattern;
}

/** The value of a rule without a wildcard; the token of one that is secret. */
export function valueOf(key: string, { segment }: RuleNode): string {
  return segment.slice(key.length + 1);
}
