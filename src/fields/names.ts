import { describe, quote, type Located } from './located';
import { nearestName } from './nearest-name';
import { describePlace, type Place } from './problem';
import type { Report } from './report';
import { resolveScalar } from './scalars';

/** The names that the maps of one place may have, and how others are reported. */
export interface Words<Name extends string = string> {
  readonly known: readonly Name[];
  /** Completes "unknown key "x" …": `in a descriptor`. */
  readonly where: string;
  /** For files in which names of one place have a meaning in another. */
  readonly elsewhere?: {
    /** The names of all places, as candidates for a misspelled one. */
    readonly known: readonly string[];
    /** The message for a name that belongs elsewhere; undefined: it belongs nowhere. */
    readonly misplaced: (name: string, words: Words) => string | undefined;
  };
}

/** Warns when the map has the name already, and records its place. */
export function warnOfDuplicate(
  places: Map<string, Place>,
  key: Located,
  name: string,
  report: Report,
): void {
  const before = places.get(name);
  places.set(name, key.at);
  if (before === undefined) return;
  const message = `the key ${quote(name)} is given twice in one map (before ${describePlace(before)}); the last one applies`;
  report.warning(key.at, 'duplicate-key', message);
}

/** Undefined: an unknown name, which is reported. Without `elsewhere` every other key is unknown. */
export function readName(key: Located, words: Words, report: Report): string | undefined {
  const { known, where, elsewhere } = words;
  const isName = key.kind === 'scalar';
  if (isName && (elsewhere === undefined || resolveScalar(key).type === 'text')) return key.text;
  if (elsewhere === undefined)
    report.error(key.at, 'unknown-key', unknown(describe(key), undefined, words));
  else {
    const expected = `a key ${where} must be a string, one of ${known.join(', ')}`;
    report.error(key.at, 'non-string-key', `${expected}; found ${describe(key)}`);
  }
  return undefined;
}

export function unknown(
  name: string,
  nearest: string | undefined,
  { known, where }: Words,
): string {
  const hint = nearest === undefined ? '' : `did you mean ${quote(nearest)}? `;
  return `unknown key ${name} ${where}: ${hint}known keys are ${known.join(', ')}`;
}

/** Completes a message about an unknown text; empty where none is near. */
export function didYouMean(text: string, known: Iterable<string>): string {
  const nearest = nearestName(text, known);
  return nearest === undefined ? '' : `; did you mean ${quote(nearest)}?`;
}
