import type { Extract } from './extract';

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

/** The fields of a request, from every origin (docs/simulate.md has the table). */
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
