import type { Pattern } from '../platform/pattern';
import { RecentTexts } from '../platform/recent-texts';

/** The part of a text that a map uses; undefined where there is none. */
export type Extract = (text: string) => string | undefined;

const MAX_KEPT = 512;
const MAX_KEPT_CHARACTERS = 256;

/**
 * The first group of a pattern, or the whole match. Cached, because most requests are for a few paths, and a pattern costs more
 * than the rest of a map.
 */
export function createExtract(pattern: Pattern): Extract {
  const recent = new RecentTexts(MAX_KEPT);
  return (text) => {
    const known = recent.get(text);
    if (known !== undefined) return known;
    const groups = pattern(text);
    const found = groups?.[1] ?? groups?.[0];
    if (found !== undefined && text.length <= MAX_KEPT_CHARACTERS) recent.set(text, found);
    return found;
  };
}
