import { quote } from '../../fields/located';
import type { Report } from '../../fields/report';
import { nearestName } from '../../fields/nearest-name';
import { RULE_WORDS } from '../../core/rules/parse/rule-fields';
import type { Struct, Value } from './messages';

/** What the messages have themselves of a limit. */
const IN_MESSAGES = ['unit', 'requests_per_unit', 'unlimited', 'name', 'replaces'];

/** The fields that rule files have and the messages lack, by the place in `metadata.weir` from which they are read. */
const FIELDS = {
  rate_limit: RULE_WORDS.rate_limit.known.filter((name) => !IN_MESSAGES.includes(name)),
  descriptor: ['value_to_metric', 'share_threshold', 'on_store_error', 'hash_value', 'value_hash'],
};

type Part = keyof typeof FIELDS;

/** What rule files say of a descriptor by words that the messages lack altogether; the last one is of its whole domain. */
const WHOLE_WORDS = ['rate_limits', 'reserve', 'block', 'charge'] as const;

const KNOWN = [...(Object.keys(FIELDS) as Part[]), ...WHOLE_WORDS];

type Fields = Readonly<Record<string, Value>>;

/** What a descriptor's metadata say to this service, and the rest of them. */
export interface WeirMetadata extends Readonly<Record<Part, Fields>> {
  readonly metadata: Struct | undefined;
  /** `rate_limits`, `reserve`, `block` and `charge`, those that are there. */
  readonly words: Fields;
}

/** Takes `weir` out of the metadata of the descriptor at `path`. What is wrong with its form is reported. */
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

/** The fields of a value that have one of the names. */
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
