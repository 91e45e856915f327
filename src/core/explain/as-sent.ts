import type { Entry } from '../model';
import { findNode } from '../rules/match';
import type { RuleLevel, RuleNode } from '../rules/rules';

/** A command of Envoy's access log, bounded so that a long value takes time in proportion. */
const COMMAND = /%[A-Z][A-Z_]{2,40}(?:\([^()%]{0,80}\))?(?::\d{1,4})?%/;

/**
 * The entries without the query strings of their paths, where they then match another rule's limit. `:path` of Envoy includes the
 * query, so that `/login?x=1` does not match `/login`.
 */
export function withoutQueries(
  top: RuleLevel,
  entries: readonly Entry[],
): readonly Entry[] | undefined {
  const cut = entries.map(withoutQuery);
  if (cut.every((entry, at) => entry === entries[at])) return undefined;
  const leaf = leafOf(top, cut);
  return leaf?.limit === undefined || leaf === leafOf(top, entries) ? undefined : cut;
}

function withoutQuery(entry: Entry): Entry {
  const { key, value } = entry;
  const end = value.startsWith('/') ? value.indexOf('?') : -1;
  return end === -1 ? entry : { key, value: value.slice(0, end) };
}

/** The access log command in an entry that the proxy sent literally instead of substituting it. */
export function commandIn({ value }: Entry): string | undefined {
  return COMMAND.exec(value)?.[0];
}

/** The rule that matches the last entry. */
export function leafOf(top: RuleLevel, entries: readonly Entry[]): RuleNode | undefined {
  let level: RuleLevel | undefined = top;
  let node: RuleNode | undefined;
  for (const { key, value } of entries) {
    node = level === undefined ? undefined : findNode(level, key, value);
    level = node?.children;
  }
  return node;
}
