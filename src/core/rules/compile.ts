import type { KeyTemplate } from './key-template';
import type { DomainDefinition, RuleDefinition } from './definition';
import { MAX_PACED_LIMIT } from '../algorithms/algorithm';
import { withLimitsFrom } from './limits-from';
import type { DomainRules, KeyRules, RuleLevel, RuleLimit, RuleNode, Rules } from './rules';
import { indexWildcards } from './wildcards';

/** A node while its children are still being gathered. */
interface Draft {
  readonly node: Mutable<RuleNode>;
  readonly metricPath: string;
  children: DraftLevel | undefined;
}
type DraftLevel = Map<string, DraftKey>;
interface DraftKey {
  readonly byValue: Map<string, RuleNode>;
  readonly patterns: { pattern: string; node: RuleNode }[];
  anyValue: RuleNode | undefined;
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Compiles checked definitions into the lookup tree. They hold no duplicates and every parent comes first. */
export function compileRules(domains: readonly DomainDefinition[]): Rules {
  const compiling = compileInSlices(domains, Infinity);
  for (;;) {
    const step = compiling.next();
    if (step.done === true) return step.value;
  }
}

/** The same, pausing after every `sliceSize` entries, so that a reload never delays a decision. */
export function* compileInSlices(
  domains: readonly DomainDefinition[],
  sliceSize: number,
): Generator<void, Rules> {
  const compiled = new Map<string, DomainRules>();
  let limitCount = 0;
  let sinceSlice = 0;
  for (const { domain, rules } of domains) {
    const top: DraftLevel = new Map();
    const drafts: Draft[] = [];
    for (const rule of rules) {
      const parent = rule.parent === -1 ? undefined : drafts[rule.parent];
      drafts.push(addRule(domain, top, parent, rule));
      if (rule.limit !== undefined) limitCount += 1;
      sinceSlice += 1;
      if (sinceSlice >= sliceSize) {
        sinceSlice = 0;
        yield;
      }
    }
    for (const draft of drafts) {
      if (draft.children === undefined) continue;
      draft.node.children = finishLevel(draft.children);
      sinceSlice += 1;
      if (sinceSlice >= sliceSize) {
        sinceSlice = 0;
        yield;
      }
    }
    compiled.set(domain, { domain, top: finishLevel(top) });
  }
  return { domains: compiled, limitCount };
}

function addRule(
  domain: string,
  top: DraftLevel,
  parent: Draft | undefined,
  rule: RuleDefinition,
): Draft {
  const segment = metricSegment(rule);
  const metricPath = `${parent?.metricPath ?? domain}.${segment}`;
  const template = keyTemplate(domain, parent?.node, rule);
  const node: Mutable<RuleNode> = {
    // One by one: nodes made by a spread kept these in a second object, and matching took twice as long.
    literal: template.literal,
    isDynamic: template.isDynamic,
    parent: template.parent,
    depth: template.depth,
    limit: compileLimit(domain, rule, metricPath),
    children: undefined,
    sharedPattern: rule.shareThreshold ? rule.value : undefined,
    segment,
    valueToMetric: rule.valueToMetric,
    dynamicMetric: (parent?.node.dynamicMetric ?? false) || rule.valueToMetric,
  };
  attach(parent === undefined ? top : childrenOf(parent), rule, node);
  return { node, metricPath, children: undefined };
}

function childrenOf(draft: Draft): DraftLevel {
  const children: DraftLevel = draft.children ?? new Map<string, DraftKey>();
  draft.children = children;
  return children;
}

function attach(level: DraftLevel, { key, value }: RuleDefinition, node: RuleNode): void {
  let entry = level.get(key);
  if (entry === undefined) {
    entry = { byValue: new Map(), patterns: [], anyValue: undefined };
    level.set(key, entry);
  }
  if (value === undefined) entry.anyValue = node;
  else if (value.includes('*')) entry.patterns.push({ pattern: value, node });
  else entry.byValue.set(value, node);
}

function finishLevel(level: DraftLevel): RuleLevel {
  const byKey = new Map<string, KeyRules>();
  for (const [key, { byValue, patterns, anyValue }] of level) {
    byKey.set(key, {
      key,
      byValue: byValue.size === 0 ? undefined : byValue,
      wildcards: patterns.length === 0 ? undefined : indexWildcards(patterns),
      anyValue,
    });
  }
  const [sole] = byKey.values();
  return sole !== undefined && byKey.size === 1 ? sole : byKey;
}

/** The configured value is part of the segment, a shared wildcard only up to its star (behaviour.md §5.1, §5.2, §5.5). */
function metricSegment({ key, value, shareThreshold }: RuleDefinition): string {
  if (value === undefined) return key;
  return `${key}_${shareThreshold ? value.slice(0, value.indexOf('*')) : value}`;
}

function keyTemplate(
  domain: string,
  parent: RuleNode | undefined,
  { key, value, shareThreshold }: RuleDefinition,
): KeyTemplate {
  const isDynamic = value === undefined || (value.includes('*') && !shareThreshold);
  const before = parent === undefined ? domain : parent.isDynamic ? '' : parent.literal;
  return {
    // `join` makes a text of one piece: others are put together anew for each counter key.
    literal: [before, key, isDynamic ? '' : value].join('_'),
    isDynamic,
    parent: parent?.isDynamic === true ? parent : parent?.parent,
    depth: parent === undefined ? 0 : parent.depth + 1,
  };
}

/** One shared empty list: reading its length touches no memory of the rule's own. */
const NO_NAMES: readonly string[] = [];

function compileLimit(domain: string, rule: RuleDefinition, metric: string): RuleLimit | undefined {
  const limit = rule.limit;
  if (limit === undefined) return undefined;
  const unit = limit.unit ?? 'SECOND';
  const plain: RuleLimit = {
    current: { requestsPerUnit: limit.requestsPerUnit, unit, name: limit.name },
    requestsPerUnit: limit.requestsPerUnit,
    unit,
    unlimited: limit.unlimited,
    name: limit.name,
    replaces: limit.replaces.length === 0 ? NO_NAMES : limit.replaces,
    shadowMode: rule.shadowMode,
    quotaMode: rule.quotaMode,
    detailedMetric: rule.detailedMetric,
    metadata: rule.metadata,
    onStoreError: rule.onStoreError,
    metric,
    domain,
    algorithm: undefined,
    windowAt: undefined,
  };
  if (limit.limitsFrom === undefined) return plain;
  return withLimitsFrom(plain, {
    ...limit.limitsFrom,
    isPerSecond: unit === 'SECOND' && plain.windowAt === undefined,
    maxLimit: plain.algorithm?.keyEnd === undefined ? MAX_LIMIT : MAX_PACED_LIMIT,
    field: rule.shareThreshold ? rule.value : undefined,
    algorithmOf: () => undefined,
  });
}

/** uint32. */
const MAX_LIMIT = 4_294_967_295;
