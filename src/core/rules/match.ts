import { plainLimiter } from '../kinds/kinds';
import type { Entry, RequestDescriptor } from '../model';
import { UNIT_SECONDS, unitOfNumber, type Unit } from '../units';
import { joinValues, type KeyTemplate } from './key-template';
import { redactedEntries, type Secrets } from './secrets';
import type { DomainRules, KeyRules, RuleLevel, RuleLimit, RuleNode } from './rules';
import { findWildcard } from './wildcards';

/** The limit that applies to a descriptor, and what its path determines. */
export interface Match {
  readonly limit: RuleLimit;
  /** Counters are equal when their templates and `values` are equal; `counterName` makes their name. */
  readonly template: KeyTemplate;
  /** The varying values of the path, as one string. */
  readonly values: string;
  /** The entries for `counterName`. */
  readonly entries: readonly Entry[];
  /** The metric key that counts its hits. */
  readonly metric: string;
  /** For a limit of a request whose values may be secret: the entries from which `values` is made. */
  readonly asked: readonly Entry[] | undefined;
  /** For a rule's reservations: the id of the reservation. */
  readonly id: string | undefined;
}

/** Replaces a rule without a limit: it was written on purpose, so its descriptors are not unmatched. */
const PLACEHOLDER = 'placeholder';

/**
 * Finds the rule of a descriptor (behaviour.md §2.1 to §2.3); undefined when there is none. The depth must be equal; on each level
 * the exact value precedes wildcards, and these the bare key; no backtracking.
 */
export function matchDescriptor(
  rules: DomainRules,
  descriptor: RequestDescriptor,
): Match | typeof PLACEHOLDER | undefined {
  if (descriptor.limit !== undefined) return matchOverride(rules, descriptor);
  const { entries } = descriptor;
  let level: RuleLevel | undefined = rules.top;
  let node: RuleNode | undefined;
  let values = '';
  for (const { key, value } of entries) {
    node = level === undefined ? undefined : findNode(level, key, value);
    if (node === undefined) return undefined;
    if (node.isDynamic) values = node.parent === undefined ? value : joinValues(values, value);
    level = node.children;
  }
  if (node === undefined) return undefined;
  const { limit } = node;
  if (limit === undefined) return PLACEHOLDER;
  if (limit.reservation !== undefined) return matchReservation(rules, entries, limit, node, values);
  const metric = metricOf(rules, entries, node, limit);
  return { limit, template: node, values, entries, metric, asked: undefined, id: undefined };
}

/** The match of the rule above the entry with the reservation's id, which is not part of any name (budgets.md section 4). */
function matchReservation(
  rules: DomainRules,
  entries: readonly Entry[],
  limit: RuleLimit,
  node: RuleNode,
  values: string,
): Match {
  const named = entries.slice(0, -1);
  const metric = metricOf(rules, named, node, limit);
  const id = entries.at(-1)?.value;
  return { limit, template: node, values, entries: named, metric, asked: undefined, id };
}

function metricOf(
  rules: DomainRules,
  entries: readonly Entry[],
  { dynamicMetric, isOnSharedPath }: RuleNode,
  { detailedMetric, metric }: RuleLimit,
): string {
  if (detailedMetric) {
    const isShared = isOnSharedPath && hasSharedValue(rules, entries);
    return runtimeMetric(rules, entries, isShared ? appendBesideShared : appendDetailed);
  }
  return dynamicMetric ? runtimeMetric(rules, entries, appendFlagged) : metric;
}

/** The entry of a level that applies to a key and a value: the exact value, a wildcard, any value. */
export function findNode(level: RuleLevel, key: string, value: string): RuleNode | undefined {
  const rules = level instanceof Map ? level.get(key) : soleRules(level, key);
  if (rules === undefined) return undefined;
  const exact = rules.byValue?.get(value);
  if (exact !== undefined) return exact;
  const wildcard = rules.wildcards === undefined ? undefined : findWildcard(rules.wildcards, value);
  return wildcard ?? rules.anyValue;
}

function soleRules(rules: KeyRules, key: string): KeyRules | undefined {
  return rules.key === key ? rules : undefined;
}

/** A metric key with runtime values: walks the matched path a second time. */
function runtimeMetric(
  rules: DomainRules,
  entries: readonly Entry[],
  append: (node: RuleNode, entry: Entry) => string,
): string {
  let metric = rules.domain;
  let level: RuleLevel | undefined = rules.top;
  const { secrets } = rules;
  const shown = secrets === undefined ? entries : redactedEntries(secrets, entries);
  for (let i = 0; i < entries.length; i++) {
    const { key, value } = entries[i] as Entry;
    const node: RuleNode | undefined =
      level === undefined ? undefined : findNode(level, key, value);
    if (node === undefined) break;
    metric += '.' + append(node, shown[i] as Entry);
    level = node.children;
  }
  return metric;
}

/** Whether a shared wildcard takes one of the values, other than a value that equals the wildcard's own text. */
function hasSharedValue(rules: DomainRules, entries: readonly Entry[]): boolean {
  let level: RuleLevel | undefined = rules.top;
  for (const { key, value } of entries) {
    const node: RuleNode | undefined = level && findNode(level, key, value);
    if (node?.sharedPattern !== undefined && node.sharedPattern !== value) return true;
    level = node?.children;
  }
  return false;
}

/** With `detailed_metric` every level includes its runtime value, even an empty one (behaviour.md §5.3 and §5.5). */
function appendDetailed(node: RuleNode, { key, value }: Entry): string {
  return node.sharedPattern === undefined ? `${key}_${value}` : node.segment;
}

/** As above, on a path with `share_threshold` (behaviour.md §5.5). */
function appendBesideShared(node: RuleNode, entry: Entry): string {
  return node.sharedPattern === undefined ? withValue(entry) : node.segment;
}

/** `value_to_metric` adds the runtime value on its own level (behaviour.md §5.4, §5.5). */
function appendFlagged(node: RuleNode, entry: Entry): string {
  const isNamed = node.valueToMetric && node.sharedPattern === undefined;
  return isNamed ? withValue(entry) : node.segment;
}

function withValue({ key, value }: Entry): string {
  return value === '' ? key : `${key}_${value}`;
}

/** For limits in requests: the whole name is the value that varies. One for each unit, because windows differ. */
const OVERRIDES: Readonly<Record<Unit, KeyTemplate>> = {
  SECOND: overridesTemplate(),
  MINUTE: overridesTemplate(),
  HOUR: overridesTemplate(),
  DAY: overridesTemplate(),
  WEEK: overridesTemplate(),
  MONTH: overridesTemplate(),
  YEAR: overridesTemplate(),
};

function overridesTemplate(): KeyTemplate {
  return { literal: '', isDynamic: true, parent: undefined, depth: 0 };
}

/** A limit in the request applies where the domain is known, and takes precedence over every rule (behaviour.md §2.8). */
function matchOverride(rules: DomainRules, descriptor: RequestDescriptor): Match | undefined {
  const unit = descriptor.limit === undefined ? undefined : unitOfNumber(descriptor.limit.unit);
  if (descriptor.limit === undefined || unit === undefined) return undefined;
  const { requestsPerUnit } = descriptor.limit;
  const { secrets } = rules;
  const shown =
    secrets === undefined ? descriptor.entries : redactedEntries(secrets, descriptor.entries);
  const metric = `${rules.domain}.${shown.map(withValue).join('.')}`;
  const limit: RuleLimit = {
    current: { requestsPerUnit, unit, name: '', unitMultiplier: undefined },
    requestsPerUnit,
    unit,
    unlimited: false,
    name: '',
    replaces: [],
    shadowMode: false,
    quotaMode: false,
    detailedMetric: false,
    metadata: undefined,
    onStoreError: undefined,
    metric,
    domain: rules.domain,
    limiter: plainLimiter(requestsPerUnit),
    isPerSecond: unit === 'SECOND',
    windowAt: undefined,
    periodSeconds: UNIT_SECONDS[unit],
    calendar: undefined,
    limitsFrom: undefined,
    ofRule: undefined,
    budget: undefined,
    reservation: undefined,
    isLeased: false,
  };
  const values = overrideName(rules.domain, descriptor.entries);
  const entries: readonly Entry[] = [{ key: '', value: values }];
  const asked = secrets && descriptor.entries;
  return { limit, template: OVERRIDES[unit], values, entries, metric, asked, id: undefined };
}

function overrideName(domain: string, entries: readonly Entry[]): string {
  let name = domain;
  for (const { key, value } of entries) name += '_' + key + '_' + value;
  return name;
}

/** The entries of a match as code outside of matching may see them, with the tokens of a Unix second. */
export function redactedPath(
  { limit, entries, asked }: Match,
  secrets: Secrets,
  atSeconds: number,
): readonly Entry[] {
  if (asked === undefined) return redactedEntries(secrets, entries, atSeconds);
  const shown = redactedEntries(secrets, asked, atSeconds);
  return [{ key: '', value: overrideName(limit.domain, shown) }];
}

/**
 * Drops rules of one request that another of its rules replaces by name (behaviour.md §2.7); for rules with several limits, the
 * limits with that name.
 */
export function dropReplaced(matches: (Match | undefined)[]): void {
  const replaced = new Set(matches.flatMap((match) => match?.limit.replaces ?? []));
  const isReplaced = (name: string): boolean => name !== '' && replaced.has(name);
  for (let i = 0; i < matches.length; i++) {
    const match = matches[i];
    if (match === undefined) continue;
    const { budget, name } = match.limit;
    if (budget === undefined) {
      if (isReplaced(name)) matches[i] = undefined;
    } else if (budget.chosen.some((one) => isReplaced(one?.name ?? ''))) {
      const left = budget.chosen.map((one) => (isReplaced(one?.name ?? '') ? undefined : one));
      const limit = budget.withEntries(left);
      matches[i] = limit && { ...match, limit };
    }
  }
}
