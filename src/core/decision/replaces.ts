import type { Match } from '../rules/match';

/**
 * Matching rule 12: of the rules that one request matched, those whose name another one replaces
 * do not take effect.
 */
export function dropReplaced(
  matches: readonly (Match | undefined)[],
): readonly (Match | undefined)[] {
  const replaced = new Set(matches.flatMap((match) => match?.limit.replaces ?? []));
  return matches.map((match) =>
    match !== undefined && match.limit.name !== '' && replaced.has(match.limit.name)
      ? undefined
      : match,
  );
}
