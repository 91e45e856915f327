/** A statistic's name as an output writes it: before the value, and at the end of the line. */
export interface WrittenName {
  readonly name: string;
  /** Tags as the end of a line, `|#k:v,k:v`; empty without tags. */
  readonly suffix: string;
}

export type Naming = (name: string) => WrittenName;

export type Tags = Readonly<Record<string, string>>;

/** Precedes each tag that is part of a name: `.__k=v` (behaviour.md §6.3). */
export const TAG_START = '.__';

/** Characters that would end a tag, its value or the line, where tags are part of names. */
const UNSAFE = /[.:|=\p{Cc}\p{Zl}\p{Zp}]/gu;

/** The tags of EXTRA_TAGS in the order of their names, made safe for StatsD; one without a value is dropped. */
export function cleanTags(tags: Tags): readonly (readonly [name: string, value: string])[] {
  return Object.entries(tags)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => [name.replace(UNSAFE, '_'), value.replace(UNSAFE, '_')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Names for servers without tags, as existing dashboards read them: `name.__k1=v1.__k2=v2` (behaviour.md §6.3). */
export function createPlainNaming(extraTags: Tags = {}): Naming {
  const end = cleanTags(extraTags)
    .map(([name, value]) => `${TAG_START}${name}=${value}`)
    .join('');
  return (name) => ({ name: name + end, suffix: '' });
}
