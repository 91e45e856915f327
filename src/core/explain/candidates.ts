import type { Entry } from '../model';
import type { KeyRules, RuleLevel, RuleNode } from '../rules/rules';
import { findWildcards } from '../rules/wildcards';
import type { LevelExplanation } from './explanation';
import { createNearestName } from '../../fields/names';

/** Names that a hint lists. */
export const MAX_NAMES = 20;
/** Names that are compared with a misspelled one, and their maximal length. */
const MAX_COMPARED = 2_000;
const MAX_LENGTH = 64;
const NAMES_OF_STEP = 32;

/**
 * Names that were probably meant: those that differ only in letter case first, then the nearest spelling, then the others; with a
 * remark such as `; the nearest is "path"`, empty where none is near. Reads no more names than it compares.
 */
export function* suggest(found: string, names: Iterable<string>) {
  const first: string[] = [];
  const likeness = createLikeness(found);
  let compared = 0;
  for (const name of names) {
    if (first.length < MAX_NAMES) first.push(name);
    likeness.offer(name);
    compared += 1;
    if (compared === MAX_COMPARED) break;
    if (compared % NAMES_OF_STEP === 0) yield;
  }
  const { best, remark } = likeness.found();
  const others = first.filter((name) => name !== best);
  return { names: [...(best === undefined ? [] : [best]), ...others].slice(0, MAX_NAMES), remark };
}

function createLikeness(found: string) {
  const isLong = found.length > MAX_LENGTH;
  const nearest = createNearestName(isLong ? '' : found);
  const lower = found.toLowerCase();
  let sameLetters: string | undefined;
  return {
    offer(name: string): void {
      if (name.length > MAX_LENGTH) return;
      nearest.offer(name);
      if (name.toLowerCase() === lower) sameLetters ??= name;
    },
    found(): { readonly best: string | undefined; readonly remark: string } {
      const { best } = nearest;
      if (sameLetters !== undefined) {
        const remark = `; ${JSON.stringify(sameLetters)} differs only in letter case`;
        return { best: sameLetters, remark };
      }
      return { best, remark: best === undefined ? '' : `; the nearest is ${JSON.stringify(best)}` };
    },
  };
}

/** The names, joined for a sentence. */
export function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => JSON.stringify(name)).join(', ');
}

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
