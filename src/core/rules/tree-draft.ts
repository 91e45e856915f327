import type { RuleDefinition, RulePlace } from './definition';
import type { KeyTemplate } from './key-template';
import { compileLimit, type LimitMaker } from './compile-limit';
import { reservationNodes } from './reservation-nodes';
import type { KeyRules, RuleLevel, RuleNode } from './rules';
import { redactedValue, type Secrets } from './secrets';
import { ValuesByToken } from './values-by-token';
import { indexWildcards } from './wildcards';

/** A node while its children are still being gathered. */
export interface Draft {
  readonly node: Mutable<RuleNode>;
  readonly metricPath: string;
  children: DraftLevel | undefined;
}
type DraftLevel = Map<string, DraftKey>;
interface DraftKey {
  readonly byValue: Map<string, RuleNode>;
  /** Those of them that are tokens. */
  readonly hashed: Set<string>;
  readonly patterns: { pattern: string; node: RuleNode }[];
  anyValue: RuleNode | undefined;
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The tree of one domain while entries are added to it. */
export interface TreeDraft {
  readonly domain: string;
  readonly isChargedTogether: boolean;
  readonly top: DraftLevel;
  readonly secrets: Secrets | undefined;
  readonly maker: LimitMaker;
  readonly places: Map<RuleNode, RulePlace>;
}

/** Adds an entry under its parent; undefined: at the top. */
export function addRule(
  { domain, isChargedTogether, top, secrets, maker, places }: TreeDraft,
  parent: Draft | undefined,
  rule: RuleDefinition,
): Draft {
  const segment = metricSegment(rule, secrets);
  const metricPath = `${parent?.metricPath ?? domain}.${segment}`;
  const above = parent?.node;
  const template = keyTemplate(domain, above, rule);
  const node: Mutable<RuleNode> = {
    // One by one: nodes made by a spread kept these in a second object, and matching took twice as long.
    literal: template.literal,
    isDynamic: template.isDynamic,
    parent: template.parent,
    depth: template.depth,
    limit: compileLimit({ domain, isChargedTogether, metric: metricPath }, rule, maker),
    children: undefined,
    sharedPattern: rule.shareThreshold ? rule.value : undefined,
    segment,
    valueToMetric: rule.valueToMetric,
    dynamicMetric: isAny(rule.valueToMetric, above?.dynamicMetric),
    isOnSharedPath: isAny(rule.shareThreshold, above?.isOnSharedPath),
  };
  attach(parent === undefined ? top : childrenOf(parent), rule, node);
  if (rule.place !== undefined) places.set(node, rule.place);
  const draft: Draft = { node, metricPath, children: undefined };
  addReservations(draft, rule, places);
  return draft;
}

function isAny(own: boolean, ofThoseAbove = false): boolean {
  return own || ofThoseAbove;
}

function addReservations(
  draft: Draft,
  { place }: RuleDefinition,
  places: Map<RuleNode, RulePlace>,
): void {
  for (const [key, child] of reservationNodes(draft.node)) {
    childrenOf(draft).set(key, keyOfAnyValue(child));
    if (place !== undefined) places.set(child, place);
  }
}

function keyOfAnyValue(anyValue: RuleNode): DraftKey {
  return { byValue: new Map(), hashed: new Set(), patterns: [], anyValue };
}

function childrenOf(draft: Draft): DraftLevel {
  const children: DraftLevel = draft.children ?? new Map<string, DraftKey>();
  draft.children = children;
  return children;
}

function attach(level: DraftLevel, rule: RuleDefinition, node: RuleNode): void {
  const { key, value, valueHash } = rule;
  let entry = level.get(key);
  if (entry === undefined) {
    entry = { byValue: new Map(), hashed: new Set(), patterns: [], anyValue: undefined };
    level.set(key, entry);
  }
  if (valueHash !== undefined) {
    entry.hashed.add(valueHash);
    entry.byValue.set(valueHash, node);
  } else if (value === undefined) entry.anyValue = node;
  else if (value.includes('*')) entry.patterns.push({ pattern: value, node });
  else entry.byValue.set(value, node);
}

/** The lookup of a level to which nothing is added any more. */
export function finishLevel(level: DraftLevel, secrets: Secrets | undefined): RuleLevel {
  const byKey = new Map<string, KeyRules>();
  for (const [key, { byValue, hashed, patterns, anyValue }] of level) {
    const isHashed = secrets !== undefined && hashed.size > 0;
    const values = isHashed ? new ValuesByToken(key, byValue, hashed, secrets.tokens) : byValue;
    byKey.set(key, {
      key,
      byValue: values.size === 0 ? undefined : values,
      wildcards: patterns.length === 0 ? undefined : indexWildcards(patterns),
      anyValue,
    });
  }
  const [sole] = byKey.values();
  return sole !== undefined && byKey.size === 1 ? sole : byKey;
}

/**
 * The configured value is part of the segment, a shared wildcard only up to its star (behaviour.md §5.1, §5.2, §5.5); of a
 * secret one its token at the time of the load.
 */
function metricSegment(rule: RuleDefinition, secrets: Secrets | undefined): string {
  const { key, value, valueHash, shareThreshold } = rule;
  if (valueHash !== undefined) return `${key}_${valueHash}`;
  if (value === undefined) return key;
  if (secrets !== undefined && !value.includes('*'))
    return `${key}_${redactedValue(secrets, { key, value })}`;
  return `${key}_${shareThreshold ? value.slice(0, value.indexOf('*')) : value}`;
}

function keyTemplate(
  domain: string,
  parent: RuleNode | undefined,
  rule: RuleDefinition,
): KeyTemplate {
  const { key, value } = rule;
  const isDynamic = hasDynamicValue(rule);
  const before = parent === undefined ? domain : parent.isDynamic ? '' : parent.literal;
  return {
    // `join` makes a text of one piece: others are put together anew for each counter key.
    literal: [before, key, isDynamic ? '' : value].join('_'),
    isDynamic,
    parent: parent?.isDynamic === true ? parent : parent?.parent,
    depth: parent === undefined ? 0 : parent.depth + 1,
  };
}

/** Whether the value of the rule's level varies in counter keys. A secret one becomes a token, which changes with the window. */
export function hasDynamicValue({ value, secret, shareThreshold }: RuleDefinition): boolean {
  const isFixed = value !== undefined && !value.includes('*') && secret === undefined;
  return !isFixed && !shareThreshold;
}
