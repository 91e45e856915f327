import { Fields } from '../../../fields/fields';
import { quote, type LocatedMap } from '../../../fields/located';
import type { Words } from '../../../fields/names';
import type { Report } from '../../../fields/report';

/** The known keys of each level of a rule file. */
export const RULE_WORDS = {
  file: {
    where: 'at the top level of a file',
    known: ['domain', 'descriptors', 'charge'],
  },
  descriptor: {
    where: 'in a descriptor',
    known: [
      'key',
      'value',
      'rate_limit',
      'rate_limits',
      'reserve',
      'block',
      'descriptors',
      'shadow_mode',
      'quota_mode',
      'detailed_metric',
      'value_to_metric',
      'share_threshold',
      'metadata',
      'on_store_error',
      'hash_value',
      'value_hash',
    ],
  },
  rate_limit: {
    where: 'in a rate_limit',
    known: [
      'unit',
      'requests_per_unit',
      'unlimited',
      'name',
      'replaces',
      'algorithm',
      'burst',
      'charge_denied',
      'unit_multiplier',
      'calendar',
      'time_zone',
      'month_start',
      'week_start',
      'limits_from',
      'block',
      'leased',
    ],
  },
  replaces: {
    where: 'in an entry of replaces',
    known: ['name'],
  },
  limits_from: {
    where: 'in limits_from',
    known: ['key', 'refresh'],
  },
  reserve: {
    where: 'in reserve',
    known: ['lease', 'unsettled'],
  },
  block: {
    where: 'in block',
    known: ['for', 'after', 'within', 'up_to'],
  },
} as const;

export type Level = keyof typeof RULE_WORDS;

/** The fields of a map that have a meaning on its level. */
export type RuleFields<L extends Level> = Fields<(typeof RULE_WORDS)[L]['known'][number]>;

export const LEVELS = Object.keys(RULE_WORDS) as Level[];
const ALL = [...new Set(Object.values(RULE_WORDS).flatMap<string>(({ known }) => known))];

/** Whether a key has a meaning on a level. */
export function belongsIn(level: Level, name: string): boolean {
  return RULE_WORDS[level].known.some((known) => known === name);
}

export function ruleFields<L extends Level>(
  map: LocatedMap,
  level: L,
  report: Report,
): RuleFields<L> {
  const elsewhere = { known: ALL, misplaced };
  return new Fields<(typeof RULE_WORDS)[L]['known'][number]>(
    map,
    { ...RULE_WORDS[level], elsewhere },
    report,
  );
}

function misplaced(name: string, { where }: Words): string | undefined {
  const levels = LEVELS.filter((level) => belongsIn(level, name));
  if (levels.length === 0) return undefined;
  const places = levels.map((level) => RULE_WORDS[level].where).join(' or ');
  const isEnforced = name === 'shadow_mode' && where === RULE_WORDS.rate_limit.where;
  const so = isEnforced ? ', so this limit is enforced' : '';
  return `the key ${quote(name)} has no effect ${where}${so}; it belongs ${places}`;
}
