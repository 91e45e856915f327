import { type Located, type LocatedMap, type LocatedPair, quote } from '../../fields/located';
import { WHOLE, type Place } from '../../fields/problem';
import type { Report } from '../../fields/report';
import type {
  RateLimitConfig,
  RateLimitDescriptor,
  RateLimitPolicy,
  Struct,
  Value,
} from './messages';
import { nearestName } from '../../fields/names';
import type { FieldRow } from '../../core/rules/parse/table/row';
import { namesOf } from '../../core/rules/parse/table/levels';

/**
 * The tree of a rule file with the same rules, for `parseRuleFiles`. Places are paths of descriptors. Reports mistakes in the form
 * of `metadata.weir`.
 */
export function locateResource(
  { domain, descriptors }: RateLimitConfig,
  report: Report,
): LocatedMap {
  const reading: Reading = { report, charges: [] };
  const list = locateList(WHOLE, '', descriptors, reading);
  return map(WHOLE, [
    pair(WHOLE, 'domain', text(WHOLE, domain)),
    pair(WHOLE, 'descriptors', list),
    locateCharge(reading),
  ]);
}

/** One resource while its descriptors are read. */
interface Reading {
  readonly report: Report;
  /** `charge` in the metadata of descriptors, which applies to their domain. */
  readonly charges: { readonly path: string; readonly value: Value }[];
}

/** The only `charge` of a domain, for which the message has no field. */
function locateCharge({ charges, report }: Reading): LocatedPair | undefined {
  const [first, ...others] = charges;
  if (first === undefined) return undefined;
  for (const { path, value } of others) {
    if (value.stringValue === first.value.stringValue) continue;
    const message = `charge differs from that at ${first.path}; expected the same throughout the domain`;
    report.error({ path }, 'different-charge', message);
  }
  const at = { path: first.path };
  return pair(at, 'charge', locateValue(at, first.value));
}

function locateList(
  at: Place,
  parentPath: string,
  descriptors: readonly RateLimitDescriptor[] | undefined,
  reading: Reading,
): Located | undefined {
  if (descriptors === undefined) return undefined;
  const items = descriptors.map((descriptor, index) =>
    locateDescriptor(descriptor, `${parentPath}descriptors[${String(index)}]`, reading),
  );
  return { kind: 'list', at, items };
}

function locateDescriptor(
  descriptor: RateLimitDescriptor,
  path: string,
  reading: Reading,
): LocatedMap {
  const at = { path };
  const { key, value, rateLimit } = descriptor;
  const weir = takeWeir(descriptor.metadata, path, reading.report);
  const { metadata, words } = weir;
  const { charge, ...more } = words;
  if (charge !== undefined)
    reading.charges.push({ path: `${path}.metadata.weir.charge`, value: charge });
  const extraLimit = locatePairs({ path: `${path}.metadata.weir.rate_limit` }, weir.rate_limit);
  const limit = rateLimit === undefined ? [] : locateLimit(at, rateLimit).pairs;
  const hasLimit = limit.length + extraLimit.length > 0;
  return map(at, [
    pair(at, 'key', text(at, key)),
    pair(at, 'value', text(at, value)),
    pair(at, 'rate_limit', hasLimit ? map(at, [...limit, ...extraLimit]) : undefined),
    pair(at, 'shadow_mode', flag(at, descriptor.shadowMode)),
    pair(at, 'detailed_metric', flag(at, descriptor.detailedMetric)),
    pair(at, 'quota_mode', flag(at, descriptor.quotaMode)),
    pair(at, 'metadata', metadata && locateStruct(at, metadata)),
    pair(at, 'descriptors', locateList(at, `${path}.`, descriptor.descriptors, reading)),
    ...locatePairs({ path: `${path}.metadata.weir.descriptor` }, weir.descriptor),
    ...Object.entries(more).map(([word, value]) =>
      locateWord(word, `${path}.metadata.weir.${word}`, value),
    ),
  ]);
}

/** Each element of a list has a place of its own. */
function locateWord(word: string, path: string, value: Value): LocatedPair {
  const at = { path };
  const key = quoted(at, word);
  if (value.listValue === undefined) return { key, value: locateValue(at, value) };
  const items = (value.listValue.values ?? []).map((item, index) =>
    locateValue({ path: `${path}[${String(index)}]` }, item),
  );
  return { key, value: { kind: 'list', at, items } };
}

/** Without `requests_per_unit` a message has 0, where a rule file has nothing. */
function locateLimit(at: Place, policy: RateLimitPolicy): LocatedMap {
  const { unit, requestsPerUnit = 0, unlimited, name, replaces } = policy;
  const isUnit = unit !== undefined && unit !== 'UNKNOWN';
  const names = replaces?.map((one) => map(at, [pair(at, 'name', text(at, one.name))]));
  return map(at, [
    pair(at, 'unit', isUnit ? text(at, String(unit)) : undefined),
    pair(at, 'requests_per_unit', plain(at, String(requestsPerUnit))),
    pair(at, 'unlimited', flag(at, unlimited)),
    pair(at, 'name', text(at, name)),
    pair(at, 'replaces', names && { kind: 'list', at, items: names }),
  ]);
}

function locateStruct(at: Place, { fields = {} }: Struct): LocatedMap {
  return { kind: 'map', at, pairs: locatePairs(at, fields) };
}

function locatePairs(at: Place, fields: NonNullable<Struct['fields']>): LocatedPair[] {
  return Object.entries(fields).map(([name, value]) => ({
    key: quoted(at, name),
    value: locateValue(at, value),
  }));
}

function locateValue(at: Place, value: Value): Located {
  const { stringValue, numberValue, boolValue, structValue, listValue } = value;
  if (stringValue !== undefined) return quoted(at, stringValue);
  if (numberValue !== undefined) return plain(at, String(numberValue));
  if (boolValue !== undefined) return plain(at, String(boolValue));
  if (structValue !== undefined) return locateStruct(at, structValue);
  if (listValue === undefined) return plain(at, 'null');
  const items = (listValue.values ?? []).map((item) => locateValue(at, item));
  return { kind: 'list', at, items };
}

function map(at: Place, pairs: readonly (LocatedPair | undefined)[]): LocatedMap {
  return { kind: 'map', at, pairs: pairs.filter((one) => one !== undefined) };
}

function pair(at: Place, key: string, value: Located | undefined): LocatedPair | undefined {
  return value && { key: quoted(at, key), value };
}

/** The zero value of a field is equivalent to none. */
function text(at: Place, value: string | undefined): Located | undefined {
  return value === undefined || value === '' ? undefined : quoted(at, value);
}

function flag(at: Place, value: boolean | undefined): Located | undefined {
  return value === true ? plain(at, 'true') : undefined;
}

function quoted(at: Place, value: string): Located {
  return { kind: 'scalar', at, text: value, quoted: true };
}

function plain(at: Place, value: string): Located {
  return { kind: 'scalar', at, text: value, quoted: false };
}

/** Whole keys of a descriptor that the messages lack; the last one applies to its domain. */
const WHOLE_WORDS = ['rate_limits', 'reserve', 'block', 'charge'] as const;

const isMissing = ({ isInXds }: FieldRow) => isInXds !== true;

/** The fields that rule files have and the messages lack, by their place in `metadata.weir`. */
const FIELDS = {
  rate_limit: namesOf('rate_limit', isMissing),
  descriptor: namesOf('descriptor', isMissing).filter((name) => !isWholeWord(name)),
};

function isWholeWord(name: string): boolean {
  return WHOLE_WORDS.some((word) => word === name);
}

type Part = keyof typeof FIELDS;

const KNOWN = [...(Object.keys(FIELDS) as Part[]), ...WHOLE_WORDS];

type Fields = Readonly<Record<string, Value>>;

/** A descriptor's metadata for this service, and the rest of them. */
interface WeirMetadata extends Readonly<Record<Part, Fields>> {
  readonly metadata: Struct | undefined;
  /** The present ones of `rate_limits`, `reserve`, `block` and `charge`. */
  readonly words: Fields;
}

/** Takes `weir` out of the metadata of the descriptor at `path`. Mistakes in its form are reported. */
function takeWeir(metadata: Struct | undefined, path: string, report: Report): WeirMetadata {
  const { weir, ...rest } = metadata?.fields ?? {};
  if (weir === undefined) return { metadata, rate_limit: {}, descriptor: {}, words: {} };
  const at = `${path}.metadata.weir`;
  const parts = readStruct(weir, at, KNOWN, report);
  const partOf = (part: Part): Fields => {
    const value = parts[part];
    return value === undefined ? {} : readStruct(value, `${at}.${part}`, FIELDS[part], report);
  };
  const words = WHOLE_WORDS.flatMap((word) => {
    const value = parts[word];
    return value === undefined ? [] : [[word, value] as const];
  });
  return {
    metadata: Object.keys(rest).length === 0 ? undefined : { fields: rest },
    rate_limit: partOf('rate_limit'),
    descriptor: partOf('descriptor'),
    words: Object.fromEntries(words),
  };
}

/** The fields of a value with known names. */
function readStruct(
  { structValue }: Value,
  path: string,
  names: readonly string[],
  report: Report,
): Fields {
  if (structValue === undefined) {
    report.error({ path }, 'wrong-type', `expected an object with ${names.join(', ')}`);
    return {};
  }
  const known = Object.entries(structValue.fields ?? {}).filter(([name]) => {
    if (names.includes(name)) return true;
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? '' : `did you mean ${quote(nearest)}? `;
    const message = `unknown key ${quote(name)}: ${hint}known keys are ${names.join(', ')}`;
    report.error({ path }, 'unknown-key', message);
    return false;
  });
  return Object.fromEntries(known);
}
