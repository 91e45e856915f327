import type { Pattern } from '../platform/pattern';
import { cleanTags, TAG_START, type Naming, type Tags } from './naming';
import { copyOf } from '../platform/copy-of';

/** Turns the names that match a pattern into another name with tags. */
export interface NameRule {
  readonly pattern: Pattern;
  /** `$0`, `$1`… are replaced by groups of the pattern. */
  readonly metricName: string;
  /** Values may contain `$0`, `$1`… too. */
  readonly tags: Tags;
}

export interface TaggedNamingOptions {
  /** In the order in which they are tried; the first match decides. */
  readonly rules: readonly NameRule[];
  readonly extraTags: Tags;
}

const GROUP = /\$(\d+)/g;
const UNSAFE_IN_NAME = /[:|\p{Cc}\p{Zl}\p{Zp}]/gu;
/** A comma would start another tag; a colon is allowed in a value. */
const UNSAFE_IN_TAG = /[,|\p{Cc}\p{Zl}\p{Zp}]/gu;

/**
 * Names with tags as DogStatsD writes them: `name:1|c|#k1:v1,k2:v2`. Tags in a name (`add.__code=success`) are removed before the
 * rules see it, as in the reference.
 */
export function createTaggedNaming({ rules, extraTags }: TaggedNamingOptions): Naming {
  const extra = cleanTags(extraTags).map(([name, value]) => `${name}:${clean(value)}`);
  const unchanged = suffixOf(extra);

  const naming: Naming = (statistic) => {
    const [name, own] = separateTags(statistic);
    for (const { pattern, metricName, tags } of rules) {
      const groups = pattern(name);
      if (groups === undefined) continue;
      const more = Object.entries(tags).map(
        ([tag, value]) => `${clean(tag)}:${clean(fill(value, groups))}`,
      );
      return {
        name: fill(metricName, groups).replace(UNSAFE_IN_NAME, '_'),
        suffix: suffixOf([...extra, ...own, ...more]),
      };
    }
    return { name, suffix: own.length === 0 ? unchanged : suffixOf([...extra, ...own]) };
  };
  return rules.length === 0 ? naming : rememberByName(naming);
}

/** Splits a name from its tags. A caller's own part of a name contains no `=` there, and stays in the name. */
function separateTags(name: string): readonly [name: string, tags: readonly string[]] {
  const start = name.indexOf(TAG_START);
  if (start < 0) return [name, []];
  const tags = name.slice(start + TAG_START.length).split(TAG_START);
  if (!tags.every((tag) => tag.includes('='))) return [name, []];
  return [name.slice(0, start), tags.map((tag) => clean(tag.replace('=', ':')))];
}

/** A group that did not take part is empty; one that the pattern lacks stays as written. */
function fill(template: string, groups: readonly string[]): string {
  return template.replace(GROUP, (written, group: string) => groups[Number(group)] ?? written);
}

function clean(text: string): string {
  return text.replace(UNSAFE_IN_TAG, '_');
}

function suffixOf(tags: readonly string[]): string {
  return tags.length === 0 ? '' : `|#${tags.join(',')}`;
}

/** Approximate memory of one cache. */
const MAX_BYTES = 33_554_432;
/** Memory of an entry, besides its strings. */
const ENTRY_BYTES = 200;
/** Memory of the name and the strings derived from it, per character of the name. */
const BYTES_PER_CHARACTER = 4;

/**
 * Caches a function by name: every flush and every scrape use the same names again. Starts anew when it is full. Names are copied,
 * so that parts of them keep nothing else alive.
 */
export function rememberByName<T>(
  find: (name: string) => T,
  maxBytes = MAX_BYTES,
): (name: string) => T {
  const found = new Map<string, T>();
  let bytes = 0;
  return (name) => {
    const known = found.get(name);
    if (known !== undefined || found.has(name)) return known as T;
    bytes += ENTRY_BYTES + BYTES_PER_CHARACTER * name.length;
    if (bytes > maxBytes) {
      found.clear();
      bytes = ENTRY_BYTES + BYTES_PER_CHARACTER * name.length;
    }
    const own = copyOf(name);
    const result = find(own);
    found.set(own, result);
    return result;
  };
}
