import {
  describe,
  type Located,
  type LocatedMap,
  type LocatedPair,
} from '../../core/rules/parse/located';
import type { Report } from '../../core/rules/parse/report';

/** Whether a key is the merge key `<<` of YAML 1.1. */
export function isMergeKey(key: Located): boolean {
  return key.kind === 'scalar' && key.text === '<<' && !key.quoted;
}

/**
 * Adds the pairs of merged maps (https://yaml.org/type/merge.html): what the map says itself wins,
 * wherever `<<` stands; in a list the earlier map wins, of several `<<` the last.
 */
export function mergeInto(pairs: LocatedPair[], merged: readonly Located[], report: Report): void {
  const taken = new Set(pairs.flatMap(({ key }) => (key.kind === 'scalar' ? [key.text] : [])));
  for (const source of merged.toReversed().flatMap((value) => mapsOf(value, report))) {
    for (const pair of source.pairs) {
      if (pair.key.kind === 'scalar' && taken.has(pair.key.text)) continue;
      pairs.push(pair);
    }
    for (const { key } of source.pairs) if (key.kind === 'scalar') taken.add(key.text);
  }
}

function mapsOf(value: Located, report: Report): LocatedMap[] {
  if (value.kind === 'map') return [value];
  const candidates = value.kind === 'list' ? value.items : [value];
  return candidates.flatMap((candidate) => {
    if (candidate.kind === 'map') return [candidate];
    const message = `<< must be a map, an alias of one, or a list of these; found ${describe(candidate)}`;
    report.error(candidate.at, 'bad-merge', message);
    return [];
  });
}
