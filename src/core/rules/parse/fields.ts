import { describe, quote, type Located, type LocatedMap } from './located';
import { nearestName } from '../../nearest-name';
import { describePlace, type Place } from './problem';
import type { Report } from './report';
import { resolveScalar } from './scalars';

/** The keys that each level of a rule file knows. */
const FIELDS = {
  file: ['domain', 'descriptors', 'charge'],
  descriptor: [
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
  rate_limit: [
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
  replaces: ['name'],
  limits_from: ['key', 'refresh'],
  reserve: ['lease', 'unsettled'],
  block: ['for', 'after', 'within', 'up_to'],
} as const;

export type Level = keyof typeof FIELDS;

type Name<L extends Level> = (typeof FIELDS)[L][number];

/** The fields of a map that mean something on its level. */
export interface Fields<L extends Level> {
  get(name: Name<L>): Located | undefined;
  /** Whether it is missing only because its name is misspelled, which is reported. */
  isMisspelled(name: Name<L>): boolean;
  /** Known keys that stand here and do nothing, by the levels to which they belong. */
  readonly misplaced: ReadonlyMap<string, readonly Level[]>;
}

const LEVEL_NAMES: Readonly<Record<Level, string>> = {
  file: 'at the top level of a file',
  descriptor: 'in a descriptor',
  rate_limit: 'in a rate_limit',
  replaces: 'in an entry of replaces',
  limits_from: 'in limits_from',
  reserve: 'in reserve',
  block: 'in block',
};

/** The levels on which each known key means something. */
const LEVELS_OF = new Map<string, readonly Level[]>();
for (const level of Object.keys(FIELDS) as Level[]) {
  for (const name of FIELDS[level]) LEVELS_OF.set(name, [...(LEVELS_OF.get(name) ?? []), level]);
}
const KNOWN = [...LEVELS_OF.keys()];

/**
 * The fields of a map, the last one of each name. Reports keys that are not texts or are unknown, and
 * warns of known keys that do nothing on this level and of keys given twice.
 */
export function readFields<L extends Level>(map: LocatedMap, level: L, report: Report): Fields<L> {
  const fields = new Map<string, Located>();
  const meant = new Set<string | undefined>();
  const places = new Map<string, Place>();
  const astray = new Map<string, readonly Level[]>();
  for (const { key, value } of map.pairs) {
    const name = readFieldName(key, level, report);
    if (name === undefined) continue;
    warnOfDuplicate(places, key, name, report);
    const levels = LEVELS_OF.get(name);
    if (levels === undefined) {
      const nearest = nearestName(name, KNOWN);
      meant.add(nearest);
      report.error(key.at, 'unknown-key', unknown(name, nearest, level));
    } else if (levels.includes(level)) fields.set(name, value);
    else {
      astray.set(name, levels);
      report.warning(key.at, 'misplaced-key', misplaced(name, level, levels));
    }
  }
  return {
    get: (name) => fields.get(name),
    isMisspelled: (name) => !fields.has(name) && meant.has(name),
    misplaced: astray,
  };
}

/** Warns when the name has a place in the map already, and enters this one. */
export function warnOfDuplicate(
  places: Map<string, Place>,
  key: Located,
  name: string,
  report: Report,
): void {
  const before = places.get(name);
  places.set(name, key.at);
  if (before === undefined) return;
  const message = `the key ${quote(name)} is given twice in one map (before ${describePlace(before)}); the last one applies`;
  report.warning(key.at, 'duplicate-key', message);
}

function readFieldName(key: Located, level: Level, report: Report): string | undefined {
  if (key.kind === 'scalar' && resolveScalar(key).type === 'text') return key.text;
  const expected = `a key ${LEVEL_NAMES[level]} must be a string, one of ${FIELDS[level].join(', ')}`;
  report.error(key.at, 'non-string-key', `${expected}; found ${describe(key)}`);
  return undefined;
}

function misplaced(name: string, level: Level, levels: readonly Level[]): string {
  const places = levels.map((one) => LEVEL_NAMES[one]).join(' or ');
  const isEnforced = name === 'shadow_mode' && level === 'rate_limit';
  const so = isEnforced ? ', so this limit is enforced' : '';
  return `the key ${quote(name)} has no effect ${LEVEL_NAMES[level]}${so}; it belongs ${places}`;
}

function unknown(name: string, nearest: string | undefined, level: Level): string {
  const hint = nearest === undefined ? '' : `did you mean ${quote(nearest)}? `;
  return `unknown key ${quote(name)} ${LEVEL_NAMES[level]}: ${hint}known keys are ${FIELDS[level].join(', ')}`;
}
