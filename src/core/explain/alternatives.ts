import type { Entry } from '../model';
import type { RuleLevel, RuleNode } from '../rules/rules';
import { candidatesOf, type Candidate } from './candidates';
import { findNode } from '../rules/match';

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
function leafOf(top: RuleLevel, entries: readonly Entry[]): RuleNode | undefined {
  let level: RuleLevel | undefined = top;
  let node: RuleNode | undefined;
  for (const { key, value } of entries) {
    node = level === undefined ? undefined : findNode(level, key, value);
    level = node?.children;
  }
  return node;
}

/** Rules visited by one search for another path. */
const MAX_VISITS = 10_000;

/** The longest descriptor whose permutations are tried: 4 entries have 24. */
const MAX_PERMUTED = 4;

/** The rule with a limit that a descriptor would match if matching backtracked; undefined when there is none. */
export function* findWayBack(
  top: RuleLevel,
  entries: readonly Entry[],
): Generator<undefined, readonly Candidate[] | undefined, void> {
  let visits = 0;
  function* search(
    level: RuleLevel,
    at: number,
  ): Generator<undefined, readonly Candidate[] | undefined, void> {
    for (const candidate of candidatesOf(level, entries[at] as Entry)) {
      visits += 1;
      if (visits > MAX_VISITS) return undefined;
      yield;
      const { limit, children } = candidate.node;
      if (at === entries.length - 1) {
        if (limit !== undefined) return [candidate];
        continue;
      }
      const rest = children && (yield* search(children, at + 1));
      if (rest !== undefined) return [candidate, ...rest];
    }
    return undefined;
  }
  return entries.length === 0 ? undefined : yield* search(top, 0);
}

/** A permutation of the entries that matches a limit; undefined when none does. */
export function* findOrder(
  top: RuleLevel,
  entries: readonly Entry[],
): Generator<undefined, readonly Entry[] | undefined, void> {
  if (entries.length < 2 || entries.length > MAX_PERMUTED) return undefined;
  for (const order of permutations(entries)) {
    if (leafOf(top, order)?.limit !== undefined) return order;
    yield;
  }
  return undefined;
}

function permutations(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  if (entries.length <= 1) return [entries];
  return entries.flatMap((first, at) =>
    permutations(entries.toSpliced(at, 1)).map((rest) => [first, ...rest]),
  );
}
