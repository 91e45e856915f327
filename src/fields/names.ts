import { describe, quote, type Located } from './located';
import { describePlace, type Place } from './problem';
import type { Report } from './report';
import { resolveScalar } from './scalars';

/** A name at this edit distance is not meant. */
const TOO_FAR = 3;

/** Chooses, from names offered one by one, the one that a misspelled one most likely means. */
export function createNearestName(misspelled: string) {
  const plain = simplify(misspelled);
  let best: string | undefined;
  let bestDistance = Math.min(TOO_FAR, plain.length);
  return {
    /** Takes time in proportion to the length of the name. */
    offer(name: string) {
      const distance = editDistance(plain, simplify(name), bestDistance);
      if (distance >= bestDistance) return;
      best = name;
      bestDistance = distance;
    },
    /** Undefined: none is near. */
    get best() {
      return best;
    },
  };
}

/** The name that a misspelled one most likely means; undefined when none is near. */
export function nearestName(misspelled: string, names: Iterable<string>): string | undefined {
  const nearest = createNearestName(misspelled);
  for (const name of names) nearest.offer(name);
  return nearest.best;
}

function simplify(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}

/**
 * The edit distance: letters to add, drop or change; `tooFar` when it cannot be less. Cells that far from the diagonal of the table
 * are skipped: `row` holds the nearer ones, from left to right.
 */
function editDistance(from: string, to: string, tooFar: number): number {
  if (Math.abs(from.length - to.length) >= tooFar) return tooFar;
  const band = tooFar - 1;
  const row = Array.from({ length: 2 * band + 1 }, (_, place) => Math.max(place - band, 0));
  for (let i = 1; i <= from.length; i += 1) {
    let least = tooFar;
    for (let place = 0; place < row.length; place += 1) {
      const j = i + place - band;
      const isSame = from.charCodeAt(i - 1) === to.charCodeAt(j - 1);
      const inside = nextDistance(row, place, isSame);
      // Before the first letter all of `from` so far is dropped; after the last there is nothing.
      const distance = j < 1 ? i : j > to.length ? tooFar : inside;
      row[place] = distance;
      least = Math.min(least, distance);
    }
    if (least >= tooFar) return tooFar;
  }
  return Math.min(row[to.length - from.length + band] ?? tooFar, tooFar);
}

/** From the same cell and the next one of the previous row, and the previous one of this row. */
function nextDistance(row: readonly number[], place: number, isSame: boolean): number {
  const changed = (row[place] ?? 0) + (isSame ? 0 : 1);
  const dropped = (row[place + 1] ?? Infinity) + 1;
  const added = (row[place - 1] ?? Infinity) + 1;
  return Math.min(changed, dropped, added);
}

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
