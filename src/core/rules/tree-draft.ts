import type { RuleDefinition, RulePlace } from './definition';
import type { KeyTemplate } from './key-template';
import { compileLimit, type LimitMaker } from './compile-limit';
import { reservationNodes } from './compile-budget';
import type { DomainRules, KeyRules, RuleLevel, RuleNode } from './rules';
import { redactedValue, type Secrets, schemeOf, type Tokens, type TokenScheme } from './secrets';
import { addWildcard, createWildcards, type WildcardDraft } from './wildcards';

/**
 * Entries of one key by their value, some of which are written as tokens (`value_hash`). Iterates over values and tokens as
 * written. A value that reads like a token matches no token: a token is public and must open nothing.
 */
class ValuesByToken<N> extends Map<string, N> {
  readonly #key: string;
  readonly #tokens: Tokens;
  readonly #hashed: ReadonlySet<string>;
  readonly #schemes: readonly TokenScheme[];

  constructor(
    key: string,
    entries: Iterable<readonly [string, N]>,
    hashed: ReadonlySet<string>,
    tokens: Tokens,
  ) {
    super(entries);
    this.#key = key;
    this.#tokens = tokens;
    this.#hashed = hashed;
    const schemes = [...hashed].map(schemeOf).filter((scheme) => scheme !== undefined);
    this.#schemes = [...new Set(schemes)];
  }

  override get(value: string): N | undefined {
    const exact = this.#hashed.has(value) ? undefined : super.get(value);
    return exact ?? this.#byToken(value);
  }

  #byToken(value: string): N | undefined {
    const entry = { key: this.#key, value };
    for (const scheme of this.#schemes) {
      const token = this.#tokens.tokenUnder(entry, scheme);
      const found = token === undefined ? undefined : super.get(token);
      if (token !== undefined && found !== undefined && this.#hashed.has(token)) return found;
    }
    return undefined;
  }
}

/** A node that may still get children. */
export interface Draft {
  readonly node: Mutable<RuleNode>;
  readonly metricPath: string;
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The entries of one key, to which more may be added. Nearly all keys of a large rule set have one entry: other fields are made
 * when needed.
 */
interface KeyDraft extends Mutable<KeyRules> {
  byValue: Map<string, RuleNode> | undefined;
  wildcards: WildcardDraft<RuleNode> | undefined;
}

/** The tree of one domain while entries are added to it. */
export interface TreeDraft {
  readonly domain: string;
  readonly isChargedTogether: boolean;
  readonly top: Parent;
  readonly secrets: Secrets | undefined;
  readonly maker: LimitMaker;
  readonly places: Map<RuleNode, RulePlace>;
  /** The values of a key that are written as tokens. */
  readonly hashed: Map<KeyDraft, Set<string>>;
}

interface Parent {
  children: RuleLevel | undefined;
}

/** Adds an entry under its parent; undefined: at the top. */
export function addRule(tree: TreeDraft, parent: Draft | undefined, rule: RuleDefinition): Draft {
  const { domain, isChargedTogether, top, secrets, maker, places } = tree;
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
  attach(keyOf(above ?? top, rule.key), rule, node, tree);
  if (rule.place !== undefined) places.set(node, rule.place);
  addReservations(node, rule, places);
  return { node, metricPath };
}

function isAny(own: boolean, ofThoseAbove = false): boolean {
  return own || ofThoseAbove;
}

function addReservations(
  node: Mutable<RuleNode>,
  { place }: RuleDefinition,
  places: Map<RuleNode, RulePlace>,
): void {
  for (const [key, child] of reservationNodes(node)) {
    keyOf(node, key).anyValue = child;
    if (place !== undefined) places.set(child, place);
  }
}

/** The entries of a key below a node or at the top. */
function keyOf(parent: Parent, key: string): KeyDraft {
  const { children } = parent;
  const known = children instanceof Map ? children.get(key) : children;
  if (known?.key === key) return known as KeyDraft;
  const made: KeyDraft = { key, byValue: undefined, wildcards: undefined, anyValue: undefined };
  if (children === undefined) parent.children = made;
  else if (children instanceof Map) children.set(key, made);
  else parent.children = new Map<string, KeyRules>([[children.key, children]]).set(key, made);
  return made;
}

function attach(
  entries: KeyDraft,
  { value, valueHash }: RuleDefinition,
  node: RuleNode,
  { hashed }: TreeDraft,
): void {
  if (valueHash !== undefined) {
    const ofKey = hashed.get(entries) ?? new Set();
    hashed.set(entries, ofKey.add(valueHash));
  }
  const exact = valueHash ?? value;
  if (exact === undefined) entries.anyValue = node;
  else if (valueHash === undefined && exact.includes('*'))
    addWildcard((entries.wildcards ??= createWildcards()), exact, node);
  else (entries.byValue ??= new Map<string, RuleNode>()).set(exact, node);
}

/** The finished rules of a tree. */
export function finishTree({
  domain,
  isChargedTogether,
  top,
  secrets,
  hashed,
}: TreeDraft): DomainRules {
  if (secrets !== undefined) {
    for (const [entries, tokens] of hashed) {
      const { key, byValue = [] } = entries;
      entries.byValue = new ValuesByToken(key, byValue, tokens, secrets.tokens);
    }
  }
  return { domain, isChargedTogether, top: top.children ?? new Map<string, KeyRules>(), secrets };
}

/**
 * The segment contains the configured value, for a shared wildcard only up to its star (behaviour.md §5.1, §5.2, §5.5); for a
 * secret value its token at load time.
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
    // `join` makes a flat string: others are flattened anew for each counter key.
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
