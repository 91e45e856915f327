import type { LimitMaker, LimitOptions } from './compile-limit';
import type { DomainDefinition, RuleDefinition, RulePlace } from './definition';
import { createPeriods } from './compile-period';
import type { DomainRules, RuleNode, Rules } from './rules';
import type { Tokens, SecretKind, Secrets } from './secrets';
import type { FindZone, FoundZone } from '../windows/zone-data';
import { addRule, finishTree, type Draft, type TreeDraft } from './tree-draft';

export interface CompileOptions extends LimitOptions {
  /** Required by rules with secret keys. */
  readonly tokens?: Tokens;
  /** Undefined: time zones come from the runtime. */
  readonly findZone?: FindZone;
}

/** Finding the first window of a time zone costs as much as this many entries. */
const ENTRIES_PER_ZONE = 100;

/** Compiles checked definitions into the lookup tree. They contain no duplicates, and every parent precedes its children. */
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

/** As above, pausing after every `sliceSize` entries, so that a reload never delays a decision. */
export function* compileInSlices(
  domains: readonly DomainDefinition[],
  sliceSize: number,
  options: CompileOptions = {},
): Generator<void, Rules> {
  const zones = new Map<string, FoundZone>();
  const findZone = noteZones(options.findZone, zones);
  const maker: LimitMaker = { ...options, periodOf: createPeriods(findZone) };
  const secrets = findSecrets(domains, options.tokens);
  const compiled = new Map<string, DomainRules>();
  const places = new Map<RuleNode, RulePlace>();
  const found = {
    limitCount: 0,
    hasLimitsFrom: false,
    hasTogether: domains.some(({ isChargedTogether }) => isChargedTogether === true),
    hasBudgets: false,
  };
  let sinceSlice = 0;
  for (const { domain, rules, isChargedTogether = false } of domains) {
    const top = { children: undefined };
    const rest = { isChargedTogether, top, secrets, maker, places, hashed: new Map() };
    const tree: TreeDraft = { domain, ...rest };
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
    compiled.set(domain, finishTree(tree));
  }
  return { domains: compiled, ...found, places, secrets, zones };
}

/** Records each zone that is found. */
function noteZones(find: FindZone | undefined, zones: Map<string, FoundZone>) {
  if (find === undefined) return undefined;
  return (timeZone: string): FoundZone => {
    const found = zones.get(timeZone) ?? find(timeZone);
    zones.set(timeZone, found);
    return found;
  };
}

function noteLimit(
  { limit, budget }: RuleDefinition,
  found: { limitCount: number; hasLimitsFrom: boolean; hasBudgets: boolean },
): void {
  if (limit === undefined) return;
  found.limitCount += 1;
  if (limit.limitsFrom !== undefined) found.hasLimitsFrom = true;
  if (budget === undefined) return;
  if (budget.limits.some(({ limitsFrom }) => limitsFrom !== undefined)) found.hasLimitsFrom = true;
  found.hasBudgets = true;
}

function costOf({ limit, budget }: RuleDefinition): number {
  if (budget === undefined) return limit?.calendar === undefined ? 1 : ENTRIES_PER_ZONE;
  const { limits } = budget;
  return limits.some(({ calendar }) => calendar !== undefined) ? ENTRIES_PER_ZONE : limits.length;
}

/** The keys that are secret anywhere in the rules; undefined when none is. Throws when some are and there are no tokens. */
function findSecrets(
  domains: readonly DomainDefinition[],
  tokens: Tokens | undefined,
): Secrets | undefined {
  const kinds = new Map<string, SecretKind>();
  for (const { rules } of domains) {
    for (const { key, secret } of rules) if (secret !== undefined) kinds.set(key, secret);
  }
  if (kinds.size === 0) return undefined;
  if (tokens === undefined) throw new Error('rules with hash_value are compiled without tokens');
  return { kinds, tokens };
}
