import type { Entry } from '../model';
import type { RuleLevel } from '../rules/rules';
import { leafOf } from './as-sent';
import { candidatesOf, type Candidate } from './candidates';

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
