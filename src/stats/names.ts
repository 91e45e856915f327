import { copyOf } from '../platform/copy-of';
import type { Pattern } from '../platform/pattern';

/** Names of the statistics of decisions (behaviour.md §6). */
export const NAMES = {
  /** Followed by `.<domain>.<key_value>.<stat>`. */
  rules: 'ratelimit.service.rate_limit',
  /** Followed by `.<domain>`: descriptors that no rule of their domain matched. */
  unmatched: 'ratelimit.unmatched',
  serviceError: 'ratelimit.service.call.should_rate_limit.service_error',
  storeError: 'ratelimit.service.call.should_rate_limit.redis_error',
  storeTimeout: 'ratelimit.service.call.should_rate_limit.redis_timeout',
  breakerOpen: 'ratelimit.service.call.should_rate_limit.breaker_open',
  answeredLocally: 'ratelimit.service.call.should_rate_limit.answered_locally',
  /** Followed by `.<store>.time`: the time of its answer to a batch. */
  store: 'ratelimit.store',
  /** Decisions whose caller left before them. */
  abandoned: 'ratelimit.service.call.should_rate_limit.abandoned',
  globalShadowMode: 'ratelimit.service.global_shadow_mode',
  /** Counts of a series named `overflow`, for lack of room for one of its own. */
  overflow: 'ratelimit.statistics.overflow',
} as const;

/** A metric key is cut here: no file system, datagram or dashboard accepts more. */
export const MAX_METRIC_LENGTH = 2048;

/** Characters that would end a name or its line in StatsD, or that some readers of lines take for an end. */
const UNSAFE_IN_NAME = /[:|\p{Cc}\p{Zl}\p{Zp}]/gu;
/** As in the reference: anywhere, from left to right. */
const IPV4 = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/g;

/**
 * A metric key from a rule file or a request, made safe as a part of a name: it cannot start another line, value or tag
 * (behaviour.md §6.2). One longer than `MAX_METRIC_LENGTH` is cut first.
 */
export function cleanName(metric: string): string {
  const name = cutMetric(metric).replace(UNSAFE_IN_NAME, '_');
  // A copy: a name lives as long as its series, and must keep no request alive.
  return copyOf(withoutTags(name.replace(IPV4, (ip) => ip.replaceAll('.', '_'))));
}

function withoutTags(name: string): string {
  const start = name.indexOf(TAG_START);
  if (start < 0) return name;
  return name.slice(0, start) + name.slice(start).replaceAll('=', '_');
}

/** A metric key cut to `MAX_METRIC_LENGTH`; a cut one is a copy, which keeps no request alive. */
export function cutMetric(metric: string): string {
  if (metric.length <= MAX_METRIC_LENGTH) return metric;
  return copyOf(metric.slice(0, MAX_METRIC_LENGTH));
}

/** A statistic's name as an output writes it: before the value, and at the end of the line. */
export interface WrittenName {
  readonly name: string;
  /** Tags as the end of a line, `|#k:v,k:v`; empty without tags. */
  readonly suffix: string;
}

export type Naming = (name: string) => WrittenName;

export type Tags = Readonly<Record<string, string>>;

/** Precedes each tag that is part of a name: `.__k=v` (behaviour.md §6.3). */
const TAG_START = '.__';

/** Characters that would end a tag, its value or the line, where tags are part of names. */
const UNSAFE_IN_PLAIN_TAG = /[.:|=\p{Cc}\p{Zl}\p{Zp}]/gu;

/** The tags of EXTRA_TAGS in the order of their names, made safe for StatsD; one without a value is dropped. */
export function cleanTags(tags: Tags): readonly (readonly [name: string, value: string])[] {
  return Object.entries(tags)
    .filter(([, value]) => value !== '')
    .map(
      ([name, value]) =>
        [name.replace(UNSAFE_IN_PLAIN_TAG, '_'), value.replace(UNSAFE_IN_PLAIN_TAG, '_')] as const,
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Names for servers without tags, as existing dashboards read them: `name.__k1=v1.__k2=v2` (behaviour.md §6.3). */
export function createPlainNaming(extraTags: Tags = {}): Naming {
  const end = cleanTags(extraTags)
    .map(([name, value]) => `${TAG_START}${name}=${value}`)
    .join('');
  return (name) => ({ name: name + end, suffix: '' });
}

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
