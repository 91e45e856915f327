import type { Entry } from '../../core/model';
import type { Increment } from '../../core/ports';
import { findNode } from '../../core/rules/match';
import { describeLimit, isPlain } from '../../core/rules/describe-limit';
import type { RulePlace } from '../../core/rules/definition';
import { overlaidText } from '../../core/rules/overlays/overlay';
import type { RuleLevel, RuleLimit, RuleNode, Rules } from '../../core/rules/rules';
import type { Unit } from '../../core/units';
import { copyOf } from '../../platform/copy-of';

export interface DomainView {
  readonly name: string;
  /** A refused request charges no counter of its rules. */
  readonly charge?: 'together';
  readonly rules: readonly RuleView[];
}

/** One level of a rule. Texts are cut for display. */
export interface RuleView {
  readonly key: string;
  /** Undefined: any value. */
  readonly value: string | undefined;
  /** Undefined: a level without a limit of its own. */
  readonly limit: LimitView | undefined;
  readonly children: readonly RuleView[];
}

export interface LimitView {
  /** Index of its figures. */
  readonly id: number;
  readonly name: string;
  readonly requestsPerUnit: number;
  readonly unit: Unit;
  readonly unlimited: boolean;
  /** The limit in words where it is more than hits per unit. */
  readonly words?: string;
  readonly shadow: boolean;
  readonly quota: boolean;
  /** What its rule has from overlays; absent: nothing. */
  readonly overlays?: string;
}

export interface RuleTree {
  readonly domains: readonly DomainView[];
  /** Number of limits that are not listed, for lack of room. */
  readonly unlisted: number;
  /** The listed limits, by id. */
  readonly limits: readonly { readonly limit: RuleLimit; readonly domain: string }[];
}

/** More than anybody reads; `/rlconfig` has all. */
const MAX_LEVELS = 2_000;
const MAX_TEXT = 256;

/** The rules in force as a tree, in the order of the files, up to a bound. */
export function toRuleTree(rules: Rules): RuleTree {
  const limits: { limit: RuleLimit; domain: string }[] = [];
  let room = MAX_LEVELS;
  const visit = (level: RuleLevel, domain: string): RuleView[] => {
    const views: RuleView[] = [];
    for (const [key, value, node] of nodesOf(level)) {
      // The ids of reservations are not a level of a rule.
      if (node.limit?.reservation !== undefined) continue;
      if ((room -= 1) < 0) break;
      const limit =
        node.limit === undefined
          ? undefined
          : toLimit(node.limit, limits.length, rules.places.get(node));
      if (node.limit !== undefined) limits.push({ limit: node.limit, domain });
      const children = node.children === undefined ? [] : visit(node.children, domain);
      views.push({ key: cutText(key), value: value && cutText(value), limit, children });
    }
    return views;
  };
  const domains: DomainView[] = [];
  for (const { domain, top, isChargedTogether } of rules.domains.values()) {
    if ((room -= 1) < 0) break;
    const charge = isChargedTogether ? ({ charge: 'together' } as const) : {};
    domains.push({ name: cutText(domain), ...charge, rules: visit(top, domain) });
  }
  return { domains, unlisted: rules.limitCount - limits.length, limits };
}

/** A text of a rule or a request, cut for display. */
export function cutText(text: string, length = MAX_TEXT): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

function* nodesOf(
  level: RuleLevel,
): Generator<readonly [key: string, value: string | undefined, node: RuleNode], void> {
  const keys = level instanceof Map ? level.values() : [level];
  for (const { key, byValue, wildcards, anyValue } of keys) {
    // The segment of a secret value shows its token.
    for (const node of byValue?.values() ?? [])
      yield [key, node.segment.slice(key.length + 1), node];
    for (const { pattern, node } of wildcards?.inOrder ?? []) yield [key, pattern, node];
    if (anyValue !== undefined) yield [key, undefined, anyValue];
  }
}

function toLimit(limit: RuleLimit, id: number, place: RulePlace | undefined): LimitView {
  const { name, requestsPerUnit, unit, unlimited, shadowMode, quotaMode } = limit;
  const cut = cutText(name);
  const view = { id, name: cut, requestsPerUnit, unit, unlimited };
  const words = isPlain(limit) ? {} : { words: cutText(describeLimit(limit)) };
  const overlaid = place?.overlaid?.map(overlaidText).join('; ');
  const overlays = overlaid === undefined ? {} : { overlays: cutText(overlaid) };
  return { ...view, ...words, shadow: shadowMode, quota: quotaMode, ...overlays };
}

/** The path of a counter, for a page. Its strings are short copies: they keep no request alive. */
export interface CounterPath {
  readonly domain: string;
  /** Keys and values; a rule with one shared counter shows its pattern. Undefined for a limit of a request. */
  readonly entries: readonly (readonly [key: string, value: string])[] | undefined;
  /** Undefined for a limit of a request. */
  readonly rule: RuleLimit | undefined;
}

/** Follows the matched path from the top of the rules in force, with one lookup per entry. */
export function pathOf(
  rules: Rules | undefined,
  { entries, shown = entries, rule }: Pick<Increment, 'entries' | 'shown' | 'rule'>,
): CounterPath {
  const { domain } = rule;
  const path: (readonly [string, string])[] = [];
  let level: RuleLevel | undefined = rules?.domains.get(domain)?.top;
  let node: RuleNode | undefined;
  for (const [at, { key, value }] of entries.entries()) {
    node = level && findNode(level, key, value);
    if (node === undefined) break;
    path.push(redactedPair(node, shown[at] as Entry));
    level = node.children;
  }
  const own = rule.ofRule ?? rule;
  return node?.limit === own
    ? { domain, entries: path, rule: own }
    : { domain, entries: undefined, rule: undefined };
}

function redactedPair({ sharedPattern }: RuleNode, { key, value }: Entry): [string, string] {
  return [redactedText(key), redactedText(sharedPattern ?? value)];
}

function redactedText(text: string): string {
  return copyOf(cutText(text));
}
