import { quote } from '../../core/rules/parse/located';
import type { Report } from '../../core/rules/parse/report';
import { nearestName } from '../../core/nearest-name';
import type { Struct, Value } from './messages';

/** The fields that rule files have and the messages lack, by the place in `metadata.weir` from which they are read. */
const FIELDS = {
  rate_limit: [
    'algorithm',
    'burst',
    'charge_denied',
    'unit_multiplier',
    'calendar',
    'time_zone',
    'month_start',
    'week_start',
  ],
  descriptor: ['value_to_metric', 'share_threshold', 'on_store_error'],
} as const;

type Part = keyof typeof FIELDS;
const PARTS = Object.keys(FIELDS) as Part[];

type Fields = Readonly<Record<string, Value>>;

/** What a descriptor's metadata say to this service, and the rest of them. */
export interface WeirMetadata extends Readonly<Record<Part, Fields>> {
  readonly metadata: Struct | undefined;
}

/** Takes `weir` out of the metadata of the descriptor at `path`. What is wrong with its form is reported. */
export function takeWeir(metadata: Struct | undefined, path: string, report: Report): WeirMetadata {
  const { weir, ...rest } = metadata?.fields ?? {};
  if (weir === undefined) return { metadata, rate_limit: {}, descriptor: {} };
  const at = `${path}.metadata.weir`;
  const parts = readStruct(weir, at, PARTS, report);
  const partOf = (part: Part): Fields => {
    const value = parts[part];
    return value === undefined ? {} : readStruct(value, `${at}.${part}`, FIELDS[part], report);
  };
  return {
    metadata: Object.keys(rest).length === 0 ? undefined : { fields: rest },
    rate_limit: partOf('rate_limit'),
    descriptor: partOf('descriptor'),
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
