import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { RULE_SCHEMA } from '../../../../../src/core/rules/parse/rule-schema';
import { LEVELS, RULE_LEVELS } from '../../../../../src/core/rules/parse/table/levels';
import { createRandom } from '../../../../fuzz/random';
import { readScenarios } from '../../../../parity/scenario';
import { parseText } from '../../../../support/rule-texts';

/** As editors do: YAML 1.2, then the schema. */
const isValid = new Ajv({ strict: false, allErrors: true }).compile(RULE_SCHEMA);
const isMarked = (text: string) => !isValid(parse(text, { merge: true, uniqueKeys: false }));
const isTaken = (text: string) =>
  parseText(text).problems.every(({ severity }) => severity !== 'error');

type Fields = Readonly<Record<string, unknown>>;

const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const text = fc.oneof(
  fc.constantFrom(
    'a',
    'x*',
    '',
    '10',
    'true',
    'yes',
    '010',
    '0x1F',
    '1_000',
    '1.5',
    'null',
    '~',
    'é',
  ),
  fc.string({ maxLength: 6 }),
  fc.integer(),
  fc.boolean(),
);
const flag = fc.constantFrom(true, false, null);
const hits = fc.nat(2_000_000);
const replaces = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 7) }), { maxLength: 2 });
const block = fc.record(
  {
    for: fc.constantFrom('15m', '1h30m', '1.5h'),
    after: fc.integer({ min: 1, max: 9 }),
    within: fc.constantFrom('90s', '10m', null),
    up_to: fc.constantFrom('24h', ''),
  },
  { requiredKeys: ['for'] },
);
const rate = fc.record(
  {
    unit: fc.constantFrom('second', 'minute', 'HOUR', 'Day', 'week', 'month', 'year'),
    requests_per_unit: hits,
    name: text,
    replaces: fc.oneof(replaces, fc.constant(null)),
    algorithm: fc.constantFrom('fixed_window', 'gcra', 'token_bucket', 'sliding_window', '', null),
    burst: fc.integer({ min: 1, max: 50 }),
    charge_denied: flag,
    unit_multiplier: fc.integer({ min: 1, max: 6 }),
    calendar: flag,
    time_zone: fc.constantFrom('Europe/Paris', 'UTC', ''),
    month_start: fc.integer({ min: 1, max: 28 }),
    week_start: fc.constantFrom('monday', 'sunday', null),
    limits_from: fc.record({ key: fc.constant('hash'), refresh: fc.constantFrom('10s', '5m', '') }),
    block: fc.oneof(block, fc.constant(null)),
    leased: flag,
  },
  { requiredKeys: ['unit', 'requests_per_unit'] },
);
const limit = fc.oneof(
  { weight: 6, arbitrary: rate },
  {
    weight: 1,
    arbitrary: fc.record(
      { unlimited: fc.constant(true), name: text },
      { requiredKeys: ['unlimited'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      algorithm: fc.constant('in_flight'),
      requests_per_unit: fc.integer({ min: 1, max: 99 }),
    }),
  },
);
const plain = {
  key: fc.oneof(fc.constantFrom('a', 'b', 'c', 7, true), text),
  value: text,
  shadow_mode: flag,
  quota_mode: flag,
  detailed_metric: flag,
  value_to_metric: flag,
  share_threshold: flag,
  metadata: fc.oneof(
    fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 0 }), { maxKeys: 3 }),
    fc.constant(null),
  ),
  on_store_error: fc.constantFrom('error', 'allow', 'deny', 'local', null, ''),
  hash_value: fc.constantFrom(true, false, 'sha256', null),
  value_hash: fc.constantFrom(`s-${'0a'.repeat(16)}`, `h1-${'b'.repeat(32)}`, ''),
  reserve: fc.oneof(
    fc.constant(null),
    fc.record({
      lease: fc.constantFrom('30s', '1h'),
      unsettled: fc.constantFrom('charge', 'release'),
    }),
  ),
  block: fc.oneof(block, fc.constant(null)),
};
const { descriptor } = fc.letrec<{ descriptor: Fields }>((tie) => ({
  descriptor: fc
    .record(
      {
        ...plain,
        rate_limit: limit,
        rate_limits: optional(fc.array(rate, { minLength: 1, maxLength: 3 })),
        descriptors: fc.array(tie('descriptor'), { maxLength: 2 }),
      },
      { requiredKeys: ['key'] },
    )
    // Most of the fields that exclude each other would come together.
    .chain((all) =>
      fc
        .subarray(Object.entries(all))
        .map((some) => ({ key: all.key, ...Object.fromEntries(some) })),
    ),
}));
const file = fc.record(
  {
    domain: fc.constantFrom('web', 7, 'yes'),
    descriptors: fc.array(descriptor, { maxLength: 3 }),
    charge: fc.constantFrom('together', 'apart', null),
  },
  { requiredKeys: ['domain', 'descriptors'] },
);

/** Made-up rule files that the checker takes. */
const MADE_UP = fc
  .sample(file, { numRuns: 2_000, seed: 45 })
  .filter((one) => isTaken(stringify(one)));

it('has every field of every level', () => {
  const { definitions } = RULE_SCHEMA as {
    definitions: Readonly<Record<string, { properties: object }>>;
  };
  for (const level of LEVELS)
    expect(Object.keys(definitions[level]?.properties ?? {})).toEqual(
      expect.arrayContaining(Object.keys(RULE_LEVELS[level].fields)),
    );
});

it('is the file that editors read, written by `npm run docs`', () => {
  expect(JSON.parse(readFileSync('weir-rules.schema.json', 'utf8'))).toEqual(RULE_SCHEMA);
});

it('takes whatever the checker takes of five hundred made-up files', () => {
  const texts = MADE_UP.slice(0, 500).map((one) => stringify(one));
  expect(texts).toHaveLength(500);
  expect(texts.filter(isMarked)).toEqual([]);
});

it('takes the recorded rules and the examples that the checker takes', () => {
  const recorded = readScenarios().flatMap(([, { rules }]) => Object.values(rules));
  const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' })
    .filter((name) => /config\/.*\.yaml$/.test(name))
    .map((name) => readFileSync(join('examples', name), 'utf8'));
  const taken = [...recorded, ...examples].filter(isTaken);
  expect(taken.length).toBeGreaterThan(50);
  expect(taken.filter(isMarked)).toEqual([]);
});

/** Every map of a rule file but free-form ones. */
function mapsOf(value: unknown): readonly Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(mapsOf);
  if (typeof value !== 'object' || value === null) return [];
  const map = value as Record<string, unknown>;
  return [
    map,
    ...Object.entries(map).flatMap(([name, field]) => (name === 'metadata' ? [] : mapsOf(field))),
  ];
}

/** What people write by mistake in place of a value. */
const WRONG = ['ten', '10', -1, 4_294_967_296, 1.5, [], {}, ['a'], { a: 1 }, 'Yes!', '5m5', true];

it('marks two hundred files in which one field is wrong', () => {
  const random = createRandom(45);
  const wrong: string[] = [];
  for (const one of MADE_UP) {
    const copy = structuredClone(one);
    const map = random.pick(mapsOf(copy));
    const name = random.pick(Object.keys(map));
    const how = random.below(3);
    if (how === 0) map[name] = random.pick(WRONG);
    else {
      if (how === 1) map[`${name.slice(0, -1)}x`] = map[name];
      Reflect.deleteProperty(map, name);
    }
    const text = stringify(copy);
    if (!isTaken(text)) wrong.push(text);
  }
  expect(wrong.length).toBeGreaterThanOrEqual(200);
  const missed = wrong.slice(0, 200).filter((one) => !isMarked(one));
  expect(missed).toEqual([]);
});
