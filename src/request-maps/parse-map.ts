import { didYouMean } from '../fields/names';
import { quote } from '../fields/located';
import { createExtract } from './extract';
import type { MapFields } from './map-fields';
import type { Condition, MapDescriptor, MapEntry, ValueSource } from './request-map';

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

/** The `descriptors` of a map (docs/simulate.md). Mistakes are added to the report of the fields; parts with one are omitted. */
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
