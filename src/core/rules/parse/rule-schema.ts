import { MAX_OPEN } from '../../budgets/budget';
import { kindOf } from '../../kinds/kinds';
import { ON_STORE_ERROR } from '../definition';
import { TOKEN } from '../secrets';
import { DURATION, REFUSALS } from './block';
import { CHARGES } from './charge';
import { ALGORITHMS, IN_FLIGHT } from './counting';
import { REFRESH, UINT32, UNITS } from './limit';
import { MAX_LIMITS, UNSETTLED } from './limits';
import { CALENDAR_UNITS, MAX_WINDOW_SECONDS, MONTH_STARTS, WEEK_STARTS } from './period';
import {
  ABSENT,
  anyCase,
  described,
  FALSE_WORDS,
  FLAG,
  NAME,
  oneOf,
  TEXT,
  textLike,
  TRUE,
  whole,
  type Schema,
} from '../../../fields/schema';
import { belongsIn, LEVELS, RULE_WORDS, type Level } from './rule-fields';

type NameOf<L extends Level> = (typeof RULE_WORDS)[L]['known'][number];
type Properties<L extends Level> = Readonly<Record<NameOf<L>, Schema>>;

function listOf(level: Level): Schema {
  return { type: ['array', 'null'], items: reference(level) };
}

/** A map of this level, or nothing. */
function optional(level: Level): Schema {
  return { anyOf: [reference(level), ABSENT] };
}

function reference(level: Level): Schema {
  return { $ref: `#/definitions/${level}` };
}

const FILE: Properties<'file'> = {
  domain: described('The domain that a proxy sends. One file for each.', NAME),
  descriptors: described('The entries of the first level.', listOf('descriptor')),
  charge: described(
    'together: a request that any rule refuses charges no counter at all. Default: apart.',
    oneOf(CHARGES),
  ),
};

const DESCRIPTOR: Properties<'descriptor'> = {
  key: described('The key of the descriptor entry.', NAME),
  value: described(
    'Its value. Missing: any value, each with its own counter. A * matches any text.',
    TEXT,
  ),
  rate_limit: described(
    'The limit. Without one, requests are not limited.',
    optional('rate_limit'),
  ),
  rate_limits: described('In place of rate_limit: several limits, all of which hold.', {
    type: 'array',
    minItems: 1,
    maxItems: MAX_LIMITS,
    items: { allOf: [reference('rate_limit'), { properties: { unlimited: { not: TRUE } } }] },
  }),
  reserve: described(
    'Hits may be held before they are known, and settled later.',
    optional('reserve'),
  ),
  block: described('Refusals block for a while.', optional('block')),
  descriptors: described('The entries of the next level.', listOf('descriptor')),
  shadow_mode: described('Count, but always answer OK.', FLAG),
  quota_mode: described('Over the limit only when all quota rules of the request are.', FLAG),
  detailed_metric: described('Metrics name the values of the request.', FLAG),
  value_to_metric: described('Metrics name the value of this level.', FLAG),
  share_threshold: described('One counter for all values of a wildcard.', FLAG),
  metadata: described('Sent back with the answer, as it is.', { type: ['object', 'null'] }),
  on_store_error: described('The answer when the store fails.', oneOf(ON_STORE_ERROR)),
  hash_value: described('Values of this key are secret: they become tokens.', {
    anyOf: [FLAG, { const: 'sha256' }],
  }),
  value_hash: described(
    'The token of a secret value, as ratelimit-hash-value prints it.',
    textLike(TOKEN),
  ),
};

const RATE_LIMIT: Properties<'rate_limit'> = {
  unit: described('The period.', { anyOf: [anyCase(UNITS), oneOf([])] }),
  requests_per_unit: described('Hits in each period. 0 blocks every request.', whole(UINT32)),
  unlimited: described('No limit.', FLAG),
  name: described('Its name in metrics, and for replaces.', TEXT),
  replaces: described('Limits that do not apply where this one matches.', listOf('replaces')),
  algorithm: described('How hits are counted. Default: fixed_window.', oneOf(ALGORITHMS)),
  burst: described(
    'gcra: hits that may come at once.',
    whole({
      least: 1,
      most: kindOf({ algorithm: 'gcra' }).range.maxLimit,
    }),
  ),
  charge_denied: described('false: refused hits are not counted.', FLAG),
  unit_multiplier: described('Units in a period.', whole({ least: 1, most: MAX_WINDOW_SECONDS })),
  calendar: described('Periods of the calendar: a month begins on its first day.', FLAG),
  time_zone: described('IANA name, such as Europe/Paris. Default: UTC.', TEXT),
  month_start: described('The day on which calendar months begin.', whole(MONTH_STARTS)),
  week_start: described('The day on which calendar weeks begin.', oneOf(WEEK_STARTS)),
  limits_from: described('Limits of single values, from a hash in Redis.', optional('limits_from')),
  block: described('Refusals block for a while.', optional('block')),
  leased: described('Instances take hits in advance and answer without the store.', FLAG),
};

/** How a limit says how much: without a limit, in flight, or hits per period. */
const RATE: Schema = {
  if: { properties: { unlimited: TRUE }, required: ['unlimited'] },
  then: {
    properties: {
      ...{ unit: oneOf([]), unit_multiplier: ABSENT, calendar: { not: TRUE }, limits_from: ABSENT },
      ...{ algorithm: ABSENT, burst: ABSENT, charge_denied: ABSENT, block: ABSENT },
    },
  },
  else: {
    if: { properties: { algorithm: { const: IN_FLIGHT } }, required: ['algorithm'] },
    then: {
      properties: {
        requests_per_unit: { not: ABSENT, ...whole({ least: 1, most: MAX_OPEN }) },
        ...Object.fromEntries(
          ['unit', 'unit_multiplier', 'calendar', 'burst', 'charge_denied'].map((name) => [
            name,
            { not: { anyOf: [TRUE, { type: ['string', 'integer'], not: { enum: FALSE_WORDS } }] } },
          ]),
        ),
      },
      required: ['requests_per_unit'],
    },
    else: {
      properties: { unit: { not: oneOf([]) }, requests_per_unit: { not: ABSENT } },
      required: ['unit', 'requests_per_unit'],
    },
  },
};

const NEEDS_GCRA: Schema = {
  if: { properties: { burst: { not: ABSENT } }, required: ['burst'] },
  then: {
    properties: { algorithm: { enum: ['gcra', 'token_bucket', ''] } },
    required: ['algorithm'],
  },
};

const NEEDS_DAYS: Schema = {
  if: { properties: { calendar: TRUE }, required: ['calendar'] },
  then: {
    properties: {
      unit: {
        anyOf: [anyCase(CALENDAR_UNITS.map((unit = 'DAY') => unit.toLowerCase())), oneOf([])],
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
    if: { properties: { value_hash: { not: oneOf([]) } }, required: ['value_hash'] },
    then: { properties: { value: oneOf([]) } },
  },
  {
    if: { properties: { share_threshold: TRUE }, required: ['share_threshold'] },
    then: { properties: { value: { type: 'string', pattern: '\\*' } }, required: ['value'] },
  },
];

/** `replaces`, `limits_from`, `reserve` and `block`. */
const REPLACES: Properties<'replaces'> = { name: described('The name of a limit.', NAME) };
const LIMITS_FROM: Properties<'limits_from'> = {
  key: described('The key of the hash.', NAME),
  refresh: described('How often it is read, such as 10s. Default: 10s.', textLike(REFRESH)),
};
const RESERVE: Properties<'reserve'> = {
  lease: described('How long hits are held, 1s to 24h.', textLike(DURATION)),
  unsettled: described(
    'charge or release: the end of unsettled hits. Default: charge.',
    oneOf(UNSETTLED),
  ),
};
const BLOCK: Properties<'block'> = {
  for: described('How long it lasts, such as 15m.', { type: 'string', pattern: DURATION.source }),
  after: described('Refusals that start it. Default: 1.', whole(REFUSALS)),
  within: described('The time in which they come. Default: the period.', textLike(DURATION)),
  up_to: described('Repeated blocks double up to this.', textLike(DURATION)),
};

/** The names of all levels. */
const ALL = new Set<string>(LEVELS.flatMap((level) => RULE_WORDS[level].known));

const DEFINITIONS: Readonly<Record<Level, Schema>> = {
  file: levelSchema('file', FILE, { required: ['domain'] }),
  descriptor: levelSchema('descriptor', DESCRIPTOR, { required: ['key'], allOf: BESIDE }),
  rate_limit: levelSchema('rate_limit', RATE_LIMIT, { allOf: [RATE, NEEDS_GCRA, NEEDS_DAYS] }),
  replaces: levelSchema('replaces', REPLACES, { required: ['name'] }),
  limits_from: levelSchema('limits_from', LIMITS_FROM, { required: ['key'] }),
  reserve: levelSchema('reserve', RESERVE, {}),
  block: levelSchema('block', BLOCK, { required: ['for'] }),
};

/** A map with these fields. Names of other levels have no effect, which is a warning; other names are mistakes. */
function levelSchema(
  level: Level,
  properties: Readonly<Record<string, Schema>>,
  rest: Schema,
): Schema {
  const elsewhere = [...ALL]
    .filter((name) => !belongsIn(level, name))
    .map((name) => [name, { $ref: `#/definitions/misplaced/${name}` }] as const);
  return {
    type: 'object',
    properties: { ...properties, ...Object.fromEntries(elsewhere), '<<': true },
    additionalProperties: false,
    ...rest,
  };
}

function misplaced(name: string): Schema {
  const places = LEVELS.filter((level) => belongsIn(level, name)).map(
    (level) => RULE_WORDS[level].where,
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
  ...reference('file'),
  definitions: {
    ...DEFINITIONS,
    misplaced: Object.fromEntries([...ALL].map((name) => [name, misplaced(name)])),
  },
};
