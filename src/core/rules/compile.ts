import { MAX_PACED_LIMIT, toAlgorithm } from '../algorithms/algorithm';
import type { CurrentLimit } from '../model';
import type { KeyTemplate } from './key-template';
import type { DomainDefinition, LimitDefinition, RuleDefinition, RulePlace } from './definition';
import { withLimitsFrom } from './limits-from';
import { createPeriods, type Period } from './period';
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

export interface CompileOptions {
  /** UNIT_MULTIPLIER_ON_WIRE: answers say the number of units of a period. */
  readonly unitMultiplierOnWire?: boolean;
}

/** What the limits of one rule set are made with. */
interface LimitMaker extends CompileOptions {
  readonly periodOf: (limit: LimitDefinition) => Period;
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
  const compiled = new Map<string, DomainRules>();
  const places = new Map<RuleNode, RulePlace>();
  const found = { limitCount: 0, hasLimitsFrom: false };
  let sinceSlice = 0;
  for (const { domain, rules } of domains) {
    const top: DraftLevel = new Map();
    const drafts: Draft[] = [];
    for (const rule of rules) {
      const parent = rule.parent === -1 ? undefined : drafts[rule.parent];
      drafts.push(addRule({ domain, top, maker, places }, parent, rule));
      noteLimit(rule, found);
      sinceSlice += costOf(rule);
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
  return { domains: compiled, ...found, places };
}

function noteLimit(
  { limit }: RuleDefinition,
  found: Mutable<Pick<Rules, 'limitCount' | 'hasLimitsFrom'>>,
): void {
  if (limit === undefined) return;
  found.limitCount += 1;
  if (limit.limitsFrom !== undefined) found.hasLimitsFrom = true;
}

function costOf({ limit }: RuleDefinition): number {
  return limit?.calendar === undefined ? 1 : ENTRIES_PER_ZONE;
}

interface DraftDomain {
  readonly domain: string;
  readonly top: DraftLevel;
  readonly maker: LimitMaker;
  readonly places: Map<RuleNode, RulePlace>;
}

function addRule(
  { domain, top, maker, places }: DraftDomain,
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
    limit: compileLimit(domain, rule, metricPath, maker),
    children: undefined,
    sharedPattern: rule.shareThreshold ? rule.value : undefined,
    segment,
    valueToMetric: rule.valueToMetric,
    dynamicMetric: (parent?.node.dynamicMetric ?? false) || rule.valueToMetric,
  };
  attach(parent === undefined ? top : childrenOf(parent), rule, node);
  if (rule.place !== undefined) places.set(node, rule.place);
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

function compileLimit(
  domain: string,
  rule: RuleDefinition,
  metric: string,
  maker: LimitMaker,
): RuleLimit | undefined {
  const limit = rule.limit;
  if (limit === undefined) return undefined;
  const period = maker.periodOf(limit);
  const plain: RuleLimit = {
    current: currentLimit(limit, period, maker),
    requestsPerUnit: limit.requestsPerUnit,
    unit: period.unit,
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
    algorithm: limit.unlimited ? undefined : algorithmOf(limit, period),
    windowAt: period.windowAt,
    periodSeconds: period.seconds,
    calendar: period.calendar,
    limitsFrom: undefined,
    ofRule: undefined,
  };
  if (limit.limitsFrom === undefined) return plain;
  return withLimitsFrom(plain, {
    ...limit.limitsFrom,
    isPerSecond: period.unit === 'SECOND' && period.windowAt === undefined,
    maxLimit: (limit.algorithm ?? 'fixed_window') === 'fixed_window' ? MAX_UINT32 : MAX_PACED_LIMIT,
    field: rule.shareThreshold ? rule.value : undefined,
    algorithmOf: (requestsPerUnit) => algorithmOf({ ...limit, requestsPerUnit }, period),
  });
}

const MAX_UINT32 = 4_294_967_295;

/** Envoy would take a unit without its number for one of them, and let clients ask too often. */
function currentLimit(
  { requestsPerUnit, name }: LimitDefinition,
  { unit, multiplier }: Period,
  { unitMultiplierOnWire = false }: CompileOptions,
): CurrentLimit {
  if (multiplier === 1) return { requestsPerUnit, unit, name, unitMultiplier: undefined };
  return unitMultiplierOnWire
    ? { requestsPerUnit, unit, name, unitMultiplier: multiplier }
    : { requestsPerUnit, unit: 'UNKNOWN', name, unitMultiplier: undefined };
}

function algorithmOf(
  { requestsPerUnit, algorithm = 'fixed_window', burst, chargeDenied }: LimitDefinition,
  { seconds = 0 }: Period,
): RuleLimit['algorithm'] {
  return toAlgorithm({
    name: algorithm,
    limit: requestsPerUnit,
    burst,
    chargeDenied,
    // Only a fixed window, which does not read it, lies in a calendar.
    periodSeconds: seconds,
  });
}
