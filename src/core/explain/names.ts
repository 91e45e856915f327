import { nearestName } from '../nearest-name';

/** Names that a hint lists. */
export const MAX_NAMES = 20;
/** Names that are compared with a misspelled one, and their most characters: comparing takes their product. */
const MAX_COMPARED = 2_000;
const MAX_LENGTH = 64;

/** Names of which one was meant: what differs only in letter case first, then the nearest spelling, then the others. */
export interface Suggestions {
  readonly names: readonly string[];
  /** `; "path" differs only in letter case`, `; the nearest is "path"`; empty where none is near. */
  readonly remark: string;
}

export function suggest(found: string, names: readonly string[]): Suggestions {
  const compared = names.slice(0, MAX_COMPARED).filter(({ length }) => length <= MAX_LENGTH);
  const lower = found.toLowerCase();
  const sameLetters = compared.find((name) => name.toLowerCase() === lower);
  const nearest =
    sameLetters ?? (found.length > MAX_LENGTH ? undefined : nearestName(found, compared));
  if (nearest === undefined) return { names: names.slice(0, MAX_NAMES), remark: '' };
  const others = names.slice(0, MAX_NAMES).filter((name) => name !== nearest);
  const remark =
    sameLetters === undefined
      ? `; the nearest is ${JSON.stringify(nearest)}`
      : `; ${JSON.stringify(nearest)} differs only in letter case`;
  return { names: [nearest, ...others].slice(0, MAX_NAMES), remark };
}

/** The names for a sentence. */
export function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => JSON.stringify(name)).join(', ');
}
