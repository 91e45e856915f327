import type { LimitMaker, LimitOptions } from './compile-limit';
import type { DomainDefinition, RuleDefinition, RulePlace } from './definition';
import { findSecrets } from './find-secrets';
import { createPeriods } from './period';
import type { DomainRules, RuleNode, Rules } from './rules';
import type { Tokens } from './secrets';
import { addRule, finishLevel, type TreeDraft, type Draft } from './tree-draft';

export interface CompileOptions extends LimitOptions {
  /** Rules with secret keys need them. */
  readonly tokens?: Tokens;
}

/** To find the first window of a time zone costs as much as this many entries. */
const ENTRIES_PER_ZONE = 100;

/** Compiles checked definitions into the lookup tree. They hold no duplicates and every parent comes first. */
export function compileRules(
  domains: readonly DomainDefinition[],
  options: CompileOptions = {},
): Rules {
  const compiling = compileInSlices(domains, Infinity, options);
  for (;;) {
    const step = compiling.next();
    if (step.done === true) return step.value;
  }
}

/** The same, pausing after every `sliceSize` entries, so that a reload never delays a decision. */
export function* compileInSlices(
  domains: readonly DomainDefinition[],
  sliceSize: number,
  options: CompileOptions = {},
): Generator<void, Rules> {
  const maker: LimitMaker = { ...options, periodOf: createPeriods() };
  const secrets = findSecrets(domains, options.tokens);
  const compiled = new Map<string, DomainRules>();
  const places = new Map<RuleNode, RulePlace>();
  const found = { limitCount: 0, hasLimitsFrom: false };
  let sinceSlice = 0;
  for (const { domain, rules } of domains) {
    const tree: TreeDraft = { domain, top: new Map(), secrets, maker, places };
    const drafts: Draft[] = [];
    for (const rule of rules) {
      const parent = rule.parent === -1 ? undefined : drafts[rule.parent];
      drafts.push(addRule(tree, parent, rule));
      noteLimit(rule, found);
      sinceSlice += costOf(rule);
      if (sinceSlice >= sliceSize) {
        sinceSlice = 0;
        yield;
      }
    }
    for (const draft of drafts) {
      if (draft.children === undefined) continue;
      draft.node.children = finishLevel(draft.children, secrets);
      sinceSlice += 1;
      if (sinceSlice >= sliceSize) {
        sinceSlice = 0;
        yield;
      }
    }
    compiled.set(domain, { domain, top: finishLevel(tree.top, secrets), secrets });
  }
  return { domains: compiled, ...found, places, secrets };
}

function noteLimit(
  { limit }: RuleDefinition,
  found: { limitCount: number; hasLimitsFrom: boolean },
): void {
  if (limit === undefined) return;
  found.limitCount += 1;
  if (limit.limitsFrom !== undefined) found.hasLimitsFrom = true;
}

function costOf({ limit }: RuleDefinition): number {
  return limit?.calendar === undefined ? 1 : ENTRIES_PER_ZONE;
}
