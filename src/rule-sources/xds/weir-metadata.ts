import { quote } from '../../fields/located';
import type { Report } from '../../fields/report';
import { nearestName } from '../../fields/names';
import { RULE_WORDS } from '../../core/rules/parse/rule-fields';
import type { Struct, Value } from './messages';

/** The fields of a limit that the messages have themselves. */
const IN_MESSAGES = ['unit', 'requests_per_unit', 'unlimited', 'name', 'replaces'];

/** The fields that rule files have and the messages lack, by their place in `metadata.weir`. */
const FIELDS = {
  rate_limit: RULE_WORDS.rate_limit.known.filter((name) => !IN_MESSAGES.includes(name)),
  descriptor: ['value_to_metric', 'share_threshold', 'on_store_error', 'hash_value', 'value_hash'],
};

type Part = keyof typeof FIELDS;

/** Whole keys of a descriptor that the messages lack; the last one applies to its domain. */
const WHOLE_WORDS = ['rate_limits', 'reserve', 'block', 'charge'] as const;

const KNOWN = [...(Object.keys(FIELDS) as Part[]), ...WHOLE_WORDS];

type Fields = Readonly<Record<string, Value>>;

/** A descriptor's metadata for this service, and the rest of them. */
export interface WeirMetadata extends Readonly<Record<Part, Fields>> {
  readonly metadata: Struct | undefined;
  /** The present ones of `rate_limits`, `reserve`, `block` and `charge`. */
  readonly words: Fields;
}

/** Takes `weir` out of the metadata of the descriptor at `path`. Mistakes in its form are reported. */
export function takeWeir(metadata: Struct | undefined, path: string, report: Report): WeirMetadata {
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
