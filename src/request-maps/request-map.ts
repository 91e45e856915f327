import type { Pattern } from '../platform/pattern';
import { RecentTexts } from '../platform/recent-texts';

/** The source of an entry's value, as in the actions of Envoy's rate limit filter. */
export type ValueSource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'field'; readonly field: string }
  /** In lower case. */
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string }
  /** A parameter of the query. */
  | { readonly kind: 'parameter'; readonly name: string }
  | {
      readonly kind: 'masked_address';
      readonly field: string;
      readonly v4: number;
      readonly v6: number;
    };

export interface MapEntry {
  readonly key: string;
  readonly source: ValueSource;
  /** Takes the first group of the match, or the whole match; the entry is missing where it does not match. */
  readonly match: Extract | undefined;
}

export interface Condition {
  readonly field: string;
  /** Whether `holds` applies a pattern. */
  readonly isPattern: boolean;
  readonly holds: (value: string) => boolean;
}

export interface MapDescriptor {
  readonly when: Condition | undefined;
  readonly entries: readonly MapEntry[];
}

/** The fields of a request, from every origin (docs/simulate/README.md has the table). */
export const REQUEST_FIELDS = [
  'method',
  'path',
  'query',
  'host',
  'scheme',
  'remote_address',
] as const;

export type RequestField = (typeof REQUEST_FIELDS)[number];

/** One request as maps see it: a call, or a line of a log. Undefined: unknown, or empty. */
export interface RequestFacts {
  field(name: string): string | undefined;
  /** The name is in lower case. */
  header(name: string): string | undefined;
}

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
