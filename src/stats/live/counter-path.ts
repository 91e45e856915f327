import type { Increment } from '../../core/ports';
import { findNode } from '../../core/rules/match';
import type { RuleLevel, RuleLimit, RuleNode, Rules } from '../../core/rules/rules';
import { copyOf } from '../../platform/copy-of';
import { cutText } from './rule-tree';

/** What a counter counts, for a page. Its texts are short and copied: nothing of the request stays alive. */
export interface CounterPath {
  readonly domain: string;
  /** Keys and values; a rule that shares one counter shows its pattern. Undefined for a limit of a request. */
  readonly entries: readonly (readonly [key: string, value: string])[] | undefined;
  /** Undefined for a limit of a request. */
  readonly rule: RuleLimit | undefined;
}

/** Follows the path that matched from the top of the rules in force, one look for each entry. */
export function pathOf(
  rules: Rules | undefined,
  { entries, rule }: Pick<Increment, 'entries' | 'rule'>,
): CounterPath {
  const { domain } = rule;
  const shown: (readonly [string, string])[] = [];
  let level: RuleLevel | undefined = rules?.domains.get(domain)?.top;
  let node: RuleNode | undefined;
  for (const { key, value } of entries) {
    node = level === undefined ? undefined : findNode(level, key, value);
    if (node === undefined) break;
    shown.push([shownText(key), shownText(node.sharedPattern ?? value)]);
    level = node.children;
  }
  return node?.limit === rule
    ? { domain, entries: shown, rule }
    : { domain, entries: undefined, rule: undefined };
}

function shownText(text: string): string {
  return copyOf(cutText(text));
}
