import {
  ABSENT,
  anyCase,
  FALSE_WORDS,
  NOTHING,
  oneOf,
  TRUE,
  whole,
  type Schema,
} from '../../../fields/schema';
import { CALENDAR_UNITS } from './period';
import { ALL_NAMES, belongsIn, LEVELS, namesOf, RULE_LEVELS, type Level } from './table/levels';
import { algorithmsOf, IN_FLIGHT, OPEN_RESERVATIONS } from './table/limit';
import { referenceTo } from './table/types';

/** This schema for each field of a limit that excludes this. */
function excluding(other: 'unlimited' | 'in_flight', schema: Schema): Schema {
  const names = namesOf('rate_limit', ({ excludes }) => excludes?.[other] !== undefined);
  return Object.fromEntries(names.map((name) => [name, schema]));
}

/** A flag that is off, or nothing. */
const OFF: Schema = {
  not: { anyOf: [TRUE, { type: ['string', 'integer'], not: { enum: FALSE_WORDS } }] },
};

/** How a limit says how much: without a limit, in flight, or hits per period. */
const RATE: Schema = {
  if: { properties: { unlimited: TRUE }, required: ['unlimited'] },
  then: {
    properties: {
      ...excluding('unlimited', ABSENT),
      ...{ unit: NOTHING, calendar: { not: TRUE } },
    },
  },
  else: {
    if: { properties: { algorithm: { const: IN_FLIGHT } }, required: ['algorithm'] },
    then: {
      properties: {
        requests_per_unit: { not: ABSENT, ...whole(OPEN_RESERVATIONS) },
        ...excluding('in_flight', OFF),
      },
      required: ['requests_per_unit'],
    },
    else: {
      properties: { unit: { not: NOTHING }, requests_per_unit: { not: ABSENT } },
      required: ['unit', 'requests_per_unit'],
    },
  },
};

/** Fields that only some kinds have. `token_bucket` is another word for `gcra`. */
const OF_KINDS: readonly Schema[] = Object.entries(RULE_LEVELS.rate_limit.fields).flatMap(
  ([name, { ofKinds }]) => {
    if (ofKinds === undefined) return [];
    const words = algorithmsOf(ofKinds[0]);
    const all = [...words, ...(words.includes('gcra') ? ['token_bucket'] : []), ''];
    return {
      if: { properties: { [name]: { not: ABSENT } }, required: [name] },
      then: { properties: { algorithm: { enum: all } }, required: ['algorithm'] },
    };
  },
);

const NEEDS_DAYS: Schema = {
  if: { properties: { calendar: TRUE }, required: ['calendar'] },
  then: {
    properties: {
      unit: {
        anyOf: [anyCase(CALENDAR_UNITS.map((unit) => unit.toLowerCase())), NOTHING],
      },
      algorithm: oneOf(['fixed_window']),
    },
  },
};

const BESIDE: readonly Schema[] = [
  {
    if: { required: ['rate_limits'] },
    then: { properties: { rate_limit: ABSENT } },
  },
  {
    if: { properties: { value_hash: { not: NOTHING } }, required: ['value_hash'] },
    then: { properties: { value: NOTHING } },
  },
  {
    if: { properties: { share_threshold: TRUE }, required: ['share_threshold'] },
    then: { properties: { value: { type: 'string', pattern: '\\*' } }, required: ['value'] },
  },
];

/** What one row cannot say. */
const REST: Partial<Readonly<Record<Level, Schema>>> = {
  descriptor: { allOf: BESIDE },
  rate_limit: { allOf: [RATE, ...OF_KINDS, NEEDS_DAYS] },
};

/** A map with the fields of a level. Names of other levels have no effect, which is a warning; other names are mistakes. */
function levelSchema(level: Level): Schema {
  const rows = Object.entries(RULE_LEVELS[level].fields);
  const own = rows.map(([name, { type, about, required }]) => [
    name,
    {
      description: hintOf(`${about} (${type.words})`),
      ...type.schema,
      ...(required && { not: NOTHING }),
    },
  ]);
  const elsewhere = ALL_NAMES.filter((name) => !belongsIn(level, name)).map((name) => [
    name,
    { $ref: `#/definitions/misplaced/${name}` },
  ]);
  const required = rows.filter(([, row]) => row.required !== undefined).map(([name]) => name);
  return {
    type: 'object',
    properties: { ...Object.fromEntries([...own, ...elsewhere]), '<<': true },
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    ...REST[level],
  };
}

/** Without the marks of Markdown, and without links. */
function hintOf(about: string): string {
  return about
    .replaceAll(/ \(\[[^\]]*\]\([^)]*\)\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '');
}

function misplaced(name: string): Schema {
  const places = LEVELS.filter((level) => belongsIn(level, name)).map(
    (level) => RULE_LEVELS[level].where,
  );
  const description = `no effect here: it belongs ${places.join(' or ')}`;
  return { description, deprecated: true, deprecationMessage: description };
}

/**
 * The schema of rule files for editors. It takes whatever the checker takes. It cannot say what the checker compares: descriptors that
 * are unique, domains, names in `replaces`, time zones, bounds of durations and what the store can count.
 */
export const RULE_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Rules of Weir, and of envoyproxy/ratelimit',
  ...referenceTo('file'),
  definitions: {
    ...Object.fromEntries(LEVELS.map((level) => [level, levelSchema(level)])),
    misplaced: Object.fromEntries(ALL_NAMES.map((name) => [name, misplaced(name)])),
  },
};
