import { type Pattern, compilePattern } from '../platform/pattern';
import { RecentTexts } from '../platform/recent-texts';
import { didYouMean } from '../fields/names';
import { quote, describe, type LocatedMap } from '../fields/located';
import { Fields } from '../fields/fields';
import type { Report } from '../fields/report';

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

interface MapEntry {
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
type Extract = (text: string) => string | undefined;

const MAX_KEPT = 512;
const MAX_KEPT_CHARACTERS = 256;

/**
 * The first group of a pattern, or the whole match. Cached, because most requests are for a few paths, and a pattern costs more
 * than the rest of a map.
 */
function createExtract(pattern: Pattern): Extract {
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

/** The fields of requests from one origin. Undefined: any. */
export interface KnownNames {
  readonly fields: readonly string[] | undefined;
  /** In lower case; cookies are in one of them. */
  readonly headers: readonly string[] | undefined;
  /** Fields that come in lower case, so that conditions and patterns ignore case; default: none. */
  readonly caseless?: readonly string[];
}

const ENTRY = ['key', 'value', 'field', 'header', 'cookie', 'parameter', 'masked_address', 'match'];
const SOURCES = ['value', 'field', 'header', 'cookie', 'parameter', 'masked_address'] as const;
const IN_ENTRY = 'in an entry';

/** The `descriptors` of a map (docs/simulate/README.md). Mistakes are added to the report of the fields; parts with one are omitted. */
export function readMapDescriptors(map: MapFields, known: KnownNames): readonly MapDescriptor[] {
  return map
    .fieldsOfEach('descriptors', 'in a descriptor', ['when', 'entries'])
    .map((descriptor): MapDescriptor => {
      const when = descriptor.has('when')
        ? descriptor.fieldsOf('when', 'in when', ['field', 'equals', 'matches'])
        : undefined;
      const entries = descriptor.fieldsOfEach('entries', IN_ENTRY, ENTRY);
      return {
        when: when && readCondition(when, known),
        entries: entries.map((entry) => readEntry(entry, known)).filter(isRead),
      };
    });
}

function isRead(entry: MapEntry | undefined): entry is MapEntry {
  return entry !== undefined;
}

function readCondition(when: MapFields, known: KnownNames): Condition | undefined {
  const field = readField(when, known);
  if (when.has('equals') === when.has('matches')) {
    when.refuse('equals', 'when needs exactly one of equals and matches');
    return undefined;
  }
  const isCaseless = known.caseless?.includes(field ?? '') === true;
  const holds = when.has('equals') ? toEquals(when, isCaseless) : toMatches(when, isCaseless);
  if (field === undefined || holds === undefined) return undefined;
  return { field, isPattern: when.has('matches'), holds };
}

function toEquals(when: MapFields, isCaseless: boolean): Condition['holds'] | undefined {
  const written = when.text('equals');
  const expected = isCaseless ? written?.toLowerCase() : written;
  return expected === undefined ? undefined : (value) => value === expected;
}

function toMatches(when: MapFields, isCaseless: boolean): Condition['holds'] | undefined {
  const pattern = when.pattern('matches', isCaseless);
  return pattern && ((value) => pattern(value) !== undefined);
}

function readEntry(entry: MapFields, known: KnownNames): MapEntry | undefined {
  const key = entry.text('key');
  const source = readSource(entry, known);
  const isCaseless = source?.kind === 'field' && known.caseless?.includes(source.field) === true;
  const pattern = entry.has('match') ? entry.pattern('match', isCaseless) : undefined;
  if (key === undefined || source === undefined) return undefined;
  return { key, source, match: pattern && createExtract(pattern) };
}

function readSource(entry: MapFields, known: KnownNames): ValueSource | undefined {
  const [kind, another] = SOURCES.filter((name) => entry.has(name));
  if (kind === undefined || another !== undefined) {
    entry.refuse(another ?? 'key', `an entry needs exactly one of ${SOURCES.join(', ')}`);
    return undefined;
  }
  switch (kind) {
    case 'masked_address':
      return readMasked(entry, known);
    case 'field':
      return withText(readField(entry, known), (field) => ({ kind, field }));
    case 'value':
      return withText(entry.text(kind), (value) => ({ kind, value }));
    case 'header':
      return withText(readHeader(entry, known), (name) => ({ kind, name }));
    case 'cookie':
      checkHeader(entry, kind, 'cookie', known);
      return withText(entry.text(kind), (name) => ({ kind, name }));
    case 'parameter':
      return withText(entry.text(kind), (name) => ({ kind, name }));
  }
}

function withText(
  text: string | undefined,
  toSource: (text: string) => ValueSource,
): ValueSource | undefined {
  return text === undefined ? undefined : toSource(text);
}

function readHeader(entry: MapFields, known: KnownNames): string | undefined {
  const name = entry.text('header')?.toLowerCase();
  if (name !== undefined) checkHeader(entry, 'header', name, known);
  return name;
}

function readMasked(entry: MapFields, known: KnownNames): ValueSource | undefined {
  const masked = entry.fieldsOf('masked_address', 'in masked_address', ['field', 'v4', 'v6']);
  if (masked === undefined) return undefined;
  const field = readField(masked, known);
  const v4 = masked.whole('v4', { least: 0, most: 32 }, 'bad-map') ?? 32;
  const v6 = masked.whole('v6', { least: 0, most: 128 }, 'bad-map') ?? 128;
  return withText(field, (name) => ({ kind: 'masked_address', field: name, v4, v6 }));
}

function readField(map: MapFields, { fields }: KnownNames): string | undefined {
  const field = map.text('field');
  if (field === undefined || fields === undefined || fields.includes(field)) return field;
  const hint = didYouMean(field, fields);
  map.refuse('field', `field ${quote(field)} is not one of ${fields.join(', ')}${hint}`);
  return undefined;
}

function checkHeader(
  entry: MapFields,
  kind: 'header' | 'cookie',
  header: string,
  { headers }: KnownNames,
): void {
  if (headers === undefined || headers.includes(header)) return;
  const has = `the log has ${headers.join(' and ')} alone`;
  entry.refuse(kind, `${kind} needs the header ${quote(header)}: ${has}`);
}

/** One map of a map file, whose fields are required when they are read. */
export class MapFields extends Fields {
  /** @param where completes "unknown key "x" …": `in an entry` */
  constructor(map: LocatedMap, where: string, known: readonly string[], report: Report) {
    super(map, { known, where }, report);
  }

  /** The text as it is written. */
  override text(name: string): string | undefined {
    const node = this.given(name);
    if (node?.kind === 'scalar' && node.text !== '') return node.text;
    const found = node === undefined ? 'it is missing' : `found ${describe(node)}`;
    this.refuse(name, `${name} must be a string; ${found}`);
    return undefined;
  }

  /** Undefined where it is missing, too. */
  override oneOf<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    if (!this.has(name)) return undefined;
    const text = this.text(name);
    const found = choices.find((choice) => choice === text);
    if (text === undefined || found !== undefined) return found;
    this.refuse(name, `${name} ${quote(text)} is not one of ${choices.join(', ')}`);
    return undefined;
  }

  /** In the syntax of RE2. */
  pattern(name: string, isCaseless = false): Pattern | undefined {
    const source = this.text(name);
    if (source === undefined) return undefined;
    try {
      return compilePattern(source, isCaseless);
    } catch (error) {
      const { message } = error as Error;
      this.refuse(name, `${name} ${quote(source)} is not a regular expression: ${message}`);
      return undefined;
    }
  }

  /** The map below a name; undefined where it is missing, which is reported too. */
  fieldsOf(name: string, where: string, known: readonly string[]): MapFields | undefined {
    if (!this.has(name)) this.refuse(name, `${name} must be a map; it is missing`);
    const map = this.mapOf(name);
    return map && new MapFields(map, where, known, this.report);
  }

  /** The maps of a list; an empty list is reported. */
  fieldsOfEach(name: string, where: string, known: readonly string[]): readonly MapFields[] {
    const node = this.given(name);
    if (node === undefined || (node.kind === 'list' && node.items.length === 0))
      this.refuse(name, `${name} must be a list of maps; it is ${node ? 'empty' : 'missing'}`);
    return this.mapsOf(name).map((map) => new MapFields(map, where, known, this.report));
  }

  refuse(name: string, message: string): void {
    this.error(name, 'bad-map', message);
  }
}
