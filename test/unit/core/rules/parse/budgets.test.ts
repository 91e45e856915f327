import type { BudgetDefinition } from '../../../../../src/core/rules/definition';
import { briefly, parseText, rulesOf } from '../../../../support/rule-texts';

/** A rule file whose descriptor, on line 3, begins in column 6. */
const inRule = (fields: string): string => `domain: x\ndescriptors:\n  - {key: k, ${fields}}\n`;

const ruleOf = (fields: string) => rulesOf(inRule(fields))[0];
const budgetOf = (fields: string): BudgetDefinition | undefined => ruleOf(fields)?.budget;

const found = (fields: string): readonly (readonly [string, string])[] =>
  parseText(inRule(fields)).problems.map((problem) => [briefly(problem), problem.message]);

const HOUR = 'unit: hour, requests_per_unit: 9';
const DEFAULTS = { leaseMs: 600_000, unsettled: 'charge' };

describe('a rule with several limits, reservations or blocks', () => {
  it.each([
    [`rate_limit: {${HOUR}}`],
    [`rate_limit: {${HOUR}, algorithm: gcra, burst: 3}`],
    ['rate_limit: {unlimited: true}'],
    [`rate_limit: {${HOUR}, charge_denied: true}, shadow_mode: true`],
    [`rate_limit: {${HOUR}, block: }, block: `],
  ])('{%s} says no budget', (fields) => {
    const rule = ruleOf(fields);
    expect(rule?.limit).toBeDefined();
    expect(rule).not.toHaveProperty('budget');
    expect(rule?.limit).not.toHaveProperty('block');
  });

  it('has all limits of its list, the first of which is its limit', () => {
    const fields = `rate_limits: [{unit: second, requests_per_unit: 10}, {${HOUR}, algorithm: sliding_window}, {unit: day, requests_per_unit: 5000, name: daily, calendar: true}]`;
    const rule = ruleOf(fields);
    expect(rule?.budget?.limits).toMatchObject([
      { unit: 'SECOND', requestsPerUnit: 10, unlimited: false, name: '' },
      { unit: 'HOUR', requestsPerUnit: 9, algorithm: 'sliding_window' },
      { unit: 'DAY', requestsPerUnit: 5000, name: 'daily', calendar: { timeZone: 'UTC' } },
    ]);
    expect(rule?.budget).toMatchObject({ reserve: undefined, block: undefined });
    expect(rule?.limit).toBe(rule?.budget?.limits[0]);
  });

  it.each([
    [`rate_limits: [{${HOUR}}]`, { reserve: undefined, block: undefined }],
    [`rate_limit: {${HOUR}}, reserve: `, { reserve: DEFAULTS }],
    [`rate_limit: {${HOUR}}, reserve: {}`, { reserve: DEFAULTS }],
    [`rate_limit: {${HOUR}}, reserve: ~`, { reserve: DEFAULTS }],
    [
      `rate_limit: {${HOUR}}, reserve: {lease: 90s, unsettled: release}`,
      { reserve: { leaseMs: 90_000, unsettled: 'release' } },
    ],
    [`rate_limit: {${HOUR}}, reserve: {lease: 24h}`, { reserve: { leaseMs: 86_400_000 } }],
    [`rate_limit: {${HOUR}}, reserve: {lease: 1h30m}`, { reserve: { leaseMs: 5_400_000 } }],
    [`rate_limit: {algorithm: in_flight, requests_per_unit: 10}`, { reserve: DEFAULTS }],
    [
      `rate_limit: {algorithm: in_flight, requests_per_unit: 10}, reserve: {lease: 1m}`,
      { reserve: { leaseMs: 60_000, unsettled: 'charge' } },
    ],
    [
      `rate_limits: [{${HOUR}}, {algorithm: in_flight, requests_per_unit: 10}]`,
      { reserve: DEFAULTS },
    ],
  ])('{%s} says %j', (fields, expected) => {
    expect(budgetOf(fields)).toMatchObject(expected);
  });

  it.each([
    ['requests_per_unit: 1', { requestsPerUnit: 1 }],
    ['requests_per_unit: 100_000, calendar: false', { requestsPerUnit: 100_000 }],
    ['requests_per_unit: 5, charge_denied: false, name: slots', { name: 'slots' }],
    ['requests_per_unit: 5, limits_from: {key: h}', { limitsFrom: { key: 'h' } }],
  ])('takes requests in flight with {%s}', (fields, expected) => {
    const limit = ruleOf(`rate_limit: {algorithm: in_flight, ${fields}}`)?.limit;
    expect(limit).toMatchObject({ ...expected, isInFlight: true, unit: undefined });
  });

  const block = (after: number, within: number, lasts: number, upTo: number) => ({
    after,
    withinMs: within * 1_000,
    forMs: lasts * 1_000,
    upToMs: upTo * 1_000,
  });

  it.each([
    [`${HOUR}, block: {for: 15m}`, block(1, 3_600, 900, 900)],
    [`${HOUR}, block: {after: 3, within: 10m, for: 15m, up_to: 24h}`, block(3, 600, 900, 86_400)],
    [`${HOUR}, unit_multiplier: 2, block: {after: 2, for: 500ms}`, block(2, 7_200, 0.5, 0.5)],
    [
      'unit: month, requests_per_unit: 1, calendar: true, block: {for: 1s, up_to: 8760h}',
      block(1, 2_592_000, 1, 31_536_000),
    ],
    [
      'algorithm: in_flight, requests_per_unit: 1, block: {after: 2, for: 1m}',
      block(2, 60, 60, 60),
    ],
  ])('reads the block of the limit {%s}', (fields, expected) => {
    const budget = budgetOf(`rate_limit: {${fields}}`);
    expect(budget?.limits[0]?.block).toEqual(expected);
    expect(budget?.block).toBeUndefined();
  });

  it('counts refusals by any limit within the longest period, by one limit within its own', () => {
    const list = `rate_limits: [{${HOUR}, block: {after: 2, for: 1m}}, {unit: day, requests_per_unit: 9}]`;
    const budget = budgetOf(`${list}, block: {after: 2, for: 1m}`);
    expect(budget?.block).toEqual(block(2, 86_400, 60, 60));
    expect(budget?.limits.map((one) => one.block)).toEqual([block(2, 3_600, 60, 60), undefined]);
  });

  it('may stand beside a single limit', () => {
    expect(budgetOf(`rate_limit: {${HOUR}}, block: {for: 1m}`)?.block).toEqual(
      block(1, 3_600, 60, 60),
    );
  });
});

describe('mistakes in several limits', () => {
  it.each<[string, (readonly [string, string])[]]>([
    [
      `rate_limit: {${HOUR}}, rate_limits: [{unit: day, requests_per_unit: 1}]`,
      [
        [
          '3:26 limit-beside-limits',
          'rate_limit cannot be combined with rate_limits; expected one or the other',
        ],
      ],
    ],
    ['rate_limits: ', [['3:27 bad-limits', 'rate_limits is empty: expected 1 to 8 limits']]],
    ['rate_limits: []', [['3:27 bad-limits', 'rate_limits is empty: expected 1 to 8 limits']]],
    [
      `rate_limits: [${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `{unit: hour, unit_multiplier: ${String(n)}, requests_per_unit: 1}`).join(', ')}]`,
      [['3:27 bad-limits', 'rate_limits has 9 entries: expected 1 to 8 limits']],
    ],
    [`rate_limits: {${HOUR}}`, [['3:27 wrong-type', 'rate_limits must be a list; found a map']]],
    [
      `rate_limits: [${HOUR.slice(0, 4)}]`,
      [['3:28 list-of-non-maps', 'rate_limits must be a list of maps, found unit in it']],
    ],
    [
      `rate_limit: [{${HOUR}}]`,
      [
        [
          '3:26 wrong-type',
          'rate_limit must be a map; found a list; for several limits of one value use rate_limits, see docs/rules.md',
        ],
      ],
    ],
    [
      `rate_limits: [{${HOUR}}, {unlimited: true}]`,
      [
        [
          '3:76 unlimited-in-limits',
          'unlimited: true cannot be combined with rate_limits, all of which apply; expected unit and requests_per_unit',
        ],
      ],
    ],
    [`rate_limits: [{${HOUR}, unlimited: false}]`, []],
    [
      `rate_limits: [{${HOUR}}, {${HOUR}, name: other}]`,
      [
        [
          '3:64 same-limit',
          'two of the rate_limits are hour, this one and the one on line 3; expected each algorithm and period once',
        ],
      ],
    ],
    [
      `rate_limits: [{${HOUR}}, {unit: minute, unit_multiplier: 60, requests_per_unit: 1}]`,
      [
        [
          '3:64 same-limit',
          'two of the rate_limits are hour, this one and the one on line 3; expected each algorithm and period once',
        ],
      ],
    ],
    [
      `rate_limits: [{${HOUR}, algorithm: gcra}, {${HOUR}, algorithm: token_bucket}]`,
      [
        [
          '3:81 same-limit',
          'two of the rate_limits are hour_gcra, this one and the one on line 3; expected each algorithm and period once',
        ],
      ],
    ],
    [
      'rate_limits: [{algorithm: in_flight, requests_per_unit: 1}, {algorithm: in_flight, requests_per_unit: 2}]',
      [
        [
          '3:74 same-limit',
          'two of the rate_limits are in_flight, this one and the one on line 3; expected each algorithm and period once',
        ],
      ],
    ],
    [
      `rate_limits: [{${HOUR}}, {${HOUR}, algorithm: gcra}, {${HOUR}, algorithm: sliding_window}]`,
      [],
    ],
    [
      'rate_limits: [{unit: day, requests_per_unit: 1}, {unit: day, requests_per_unit: 1, calendar: true}]',
      [],
    ],
    [
      'rate_limits: [{unit: day, requests_per_unit: 1, calendar: true}, {unit: day, requests_per_unit: 1, calendar: true, time_zone: Asia/Tokyo}]',
      [
        [
          '3:79 same-limit-name',
          'two of the rate_limits are called "calendar_day", this one and the one on line 3; expected a name of its own for each',
        ],
      ],
    ],
    [
      'rate_limits: [{unit: day, requests_per_unit: 1, calendar: true}, {unit: day, requests_per_unit: 1, calendar: true, time_zone: Asia/Tokyo, name: tokyo}]',
      [],
    ],
    [
      `rate_limits: [{${HOUR}}, {unit: day, requests_per_unit: 1, name: hour}]`,
      [
        [
          '3:64 same-limit-name',
          'two of the rate_limits are called "hour", this one and the one on line 3; expected a name of its own for each',
        ],
      ],
    ],
    [
      `rate_limits: [{${HOUR}, name: a, replaces: [{name: b}]}, {unit: day, requests_per_unit: 1, name: b}]`,
      [
        [
          '3:82 self-replaces',
          'replaces names another limit of this rule, "b"; expected one of another rule',
        ],
      ],
    ],
    [
      `rate_limits: [{unit: fortnight, requests_per_unit: 1}, {unit: month, requests_per_unit: 60000000, algorithm: gcra}]`,
      [
        [
          '3:35 bad-unit',
          'unit "fortnight" is not one of second, minute, hour, day, week, month, year',
        ],
        [
          '3:102 limit-too-large',
          'requests_per_unit must be at most 50000000 under gcra; found 60000000; larger ones, such as a monthly budget of tokens, need fixed_window, with calendar: true for months of the calendar',
        ],
      ],
    ],
    [
      'rate_limts: []',
      [
        [
          '3:14 unknown-key',
          'unknown key "rate_limts" in a descriptor: did you mean "rate_limits"? known keys are key, value, rate_limit, rate_limits, reserve, block, descriptors, shadow_mode, quota_mode, detailed_metric, value_to_metric, share_threshold, metadata, on_store_error, hash_value, value_hash',
        ],
      ],
    ],
  ])('{%s}', (fields, expected) => {
    expect(found(fields)).toEqual(expected);
  });
});

describe('mistakes in reservations', () => {
  const LIMIT = `rate_limit: {${HOUR}}`;
  const LEASE = 'is not a duration from 1s to 24h, such as 90s, 10m or 1h30m';

  it.each<[string, (readonly [string, string])[]]>([
    [`${LIMIT}, reserve: true`, [['3:71 wrong-type', 'reserve must be a map; found true']]],
    [`${LIMIT}, reserve: [1m]`, [['3:71 wrong-type', 'reserve must be a map; found a list']]],
    ...['999ms', '24h1ms', '10', '10 m', '-1m', '1d', '1e3s', '', `${'0'.repeat(100)}1m`]
      .filter((text) => text !== '')
      .map((text): [string, (readonly [string, string])[]] => [
        `${LIMIT}, reserve: {lease: ${text}}`,
        [
          [
            '3:79 bad-duration',
            `lease "${text.length > 80 ? `${text.slice(0, 80)}…` : text}" ${LEASE}`,
          ],
        ],
      ]),
    [
      `${LIMIT}, reserve: {lease: [1m]}`,
      [['3:79 wrong-type', 'lease must be a string; found a list']],
    ],
    [
      `${LIMIT}, reserve: {unsettled: realease}`,
      [
        [
          '3:83 bad-unsettled',
          'unsettled "realease" is not one of charge, release; did you mean "release"?',
        ],
      ],
    ],
    [
      `${LIMIT}, reserve: {leese: 1m}`,
      [
        [
          '3:72 unknown-key',
          'unknown key "leese" in reserve: did you mean "lease"? known keys are lease, unsettled',
        ],
      ],
    ],
    [
      `${LIMIT}, reserve: , lease: 1m`,
      [
        [
          '3:71 empty-reserve',
          'reserve is empty: expected lease indented below it, found beside it',
        ],
        [
          '3:73 misplaced-key?',
          'the key "lease" has no effect in a descriptor; it belongs in reserve',
        ],
      ],
    ],
    [
      `rate_limit: {${HOUR}, charge_denied: true}, reserve: `,
      [
        [
          '3:76 charge-denied-beside-reserve',
          'charge_denied: true cannot be combined with reserve, under which what is refused is never charged',
        ],
      ],
    ],
    [`rate_limit: {${HOUR}, charge_denied: false}, reserve: `, []],
    [
      `rate_limits: [{${HOUR}, charge_denied: true}, {algorithm: in_flight, requests_per_unit: 1}]`,
      [
        [
          '3:78 charge-denied-beside-reserve',
          'charge_denied: true cannot be combined with algorithm: in_flight, under which what is refused is never charged',
        ],
      ],
    ],
    [
      'rate_limit: {unlimited: true}, reserve: , block: {for: 1m}',
      [
        [
          '3:54 algorithm-beside-unlimited',
          'reserve cannot be combined with unlimited: true; expected one or the other',
        ],
        [
          '3:63 algorithm-beside-unlimited',
          'block cannot be combined with unlimited: true; expected one or the other',
        ],
      ],
    ],
    [
      'value: v, reserve: ',
      [['3:33 idle-key?', 'reserve has no effect in a descriptor without rate_limit']],
    ],
    [
      'rate_limit: {unit: day, requests_per_unit: 0}, reserve: ',
      [
        [
          '3:70 idle-key?',
          'reserve has no effect with requests_per_unit: 0, which blocks every request',
        ],
      ],
    ],
    ...(['reserve', 'settle'] as const).map((key): [string, (readonly [string, string])[]] => [
      `${LIMIT}, reserve: , descriptors: [{key: ${key}, value: v}]`,
      [
        [
          '3:93 reservation-key',
          `the key "${key}" belongs to the reservations of the rule above; expected another key, or no reserve there`,
        ],
      ],
    ]),
    [
      'rate_limit: {algorithm: in_flight, requests_per_unit: 1}, descriptors: [{key: settle, value: v}]',
      [
        [
          '3:92 reservation-key',
          'the key "settle" belongs to the reservations of the rule above; expected another key, or no reserve there',
        ],
      ],
    ],
    [`${LIMIT}, descriptors: [{key: reserve, value: v}]`, []],
  ])('{%s}', (fields, expected) => {
    expect(found(fields)).toEqual(expected);
  });
});

describe('mistakes in requests in flight', () => {
  const NUMBER = 'requests_per_unit of in_flight must be a whole number from 1 to 100000, unquoted';
  const beside = (name: string): string =>
    `${name} cannot be combined with algorithm: in_flight, which counts open reservations; expected requests_per_unit alone`;

  it.each<[string, (readonly [string, string])[]]>([
    ['requests_per_unit: 0', [['3:68 bad-in-flight', `${NUMBER}; found 0`]]],
    ['requests_per_unit: 100001', [['3:68 bad-in-flight', `${NUMBER}; found 100001`]]],
    ['requests_per_unit: "5"', [['3:68 bad-in-flight', `${NUMBER}; found the string "5"`]]],
    [
      'name: slots',
      [
        [
          '3:26 missing-requests-per-unit',
          'requests_per_unit is missing: expected how many may be in flight, a whole number from 1 to 100000',
        ],
      ],
    ],
    ['requests_per_unit: 5, unit: minute', [['3:77 bad-in-flight', beside('unit')]]],
    [
      'requests_per_unit: 5, unit_multiplier: 2',
      [['3:88 bad-in-flight', beside('unit_multiplier')]],
    ],
    ['requests_per_unit: 5, calendar: true', [['3:81 bad-in-flight', beside('calendar')]]],
    ['requests_per_unit: 5, burst: 5', [['3:78 bad-in-flight', beside('burst')]]],
    [
      'requests_per_unit: 5, charge_denied: true',
      [['3:86 bad-in-flight', beside('charge_denied')]],
    ],
    [
      'requests_per_unit: 5, time_zone: UTC',
      [['3:82 idle-key?', 'time_zone has no effect with algorithm: in_flight']],
    ],
    [
      'unlimited: true',
      [
        [
          '3:38 algorithm-beside-unlimited',
          'algorithm cannot be combined with unlimited: true; expected one or the other',
        ],
      ],
    ],
  ])('{algorithm: in_flight, %s}', (fields, expected) => {
    expect(found(`rate_limit: {algorithm: in_flight, ${fields}}`)).toEqual(expected);
  });
});

describe('mistakes in blocks', () => {
  const RANGE = 'is not a duration from 1ms to 8760h, such as 90s, 10m or 1h30m';

  it.each<[string, (readonly [string, string])[]]>([
    [
      '{}',
      [['3:68 missing-for', 'block has no for: expected how long it lasts, such as for: 15m']],
    ],
    [
      '{for: ""}',
      [['3:74 missing-for', 'block has no for: expected how long it lasts, such as for: 15m']],
    ],
    ['true', [['3:68 wrong-type', 'block must be a map; found true']]],
    ['{for: 0s}', [['3:74 bad-duration', `for "0s" ${RANGE}`]]],
    ['{for: 8761h}', [['3:74 bad-duration', `for "8761h" ${RANGE}`]]],
    ['{for: 1m, within: x, after: 2}', [['3:86 bad-duration', `within "x" ${RANGE}`]]],
    [
      '{for: 1m, after: 0}',
      [['3:85 bad-after', 'after must be a whole number from 1 to 1000000, unquoted; found 0']],
    ],
    [
      '{for: 1m, after: 3x, within: 1m}',
      [['3:85 bad-after', 'after must be a whole number from 1 to 1000000, unquoted; found 3x']],
    ],
    [
      '{for: 15m, up_to: 5m}',
      [['3:86 up-to-below-for', 'up_to "5m" is shorter than for "15m"; expected at least as long']],
    ],
    ['{for: 15m, up_to: 15m}', []],
    [
      '{for: 1m, within: 1m}',
      [
        [
          '3:86 idle-key?',
          'within has no effect with after: 1, under which the first refusal blocks',
        ],
      ],
    ],
    [
      '{for: 1m, uo_to: 2m}',
      [
        [
          '3:78 unknown-key',
          'unknown key "uo_to" in block: did you mean "up_to"? known keys are for, after, within, up_to',
        ],
      ],
    ],
  ])('block: %s', (block, expected) => {
    expect(found(`rate_limit: {${HOUR}, block: ${block}}`)).toEqual(expected);
  });

  it.each<[string, (readonly [string, string])[]]>([
    [
      `rate_limit: {${HOUR}, block: {for: 1m}}, block: {for: 2m}`,
      [
        [
          '3:87 block-beside-block',
          'block is given both here and in the only limit of the rule; expected it once',
        ],
      ],
    ],
    [
      'rate_limit: {unlimited: true, block: {for: 1m}}',
      [
        [
          '3:51 algorithm-beside-unlimited',
          'block cannot be combined with unlimited: true; expected one or the other',
        ],
      ],
    ],
    [
      'value: v, block: {for: 1m}',
      [['3:31 idle-key?', 'block has no effect in a descriptor without rate_limit']],
    ],
    [
      `rate_limits: [{unit: day, requests_per_unit: 0, block: {for: 1m}}, {${HOUR}}], block: {for: 1m}`,
      [
        [
          '3:69 idle-key?',
          'block has no effect with requests_per_unit: 0, which blocks every request',
        ],
        [
          '3:125 idle-key?',
          'block has no effect with requests_per_unit: 0, which blocks every request',
        ],
      ],
    ],
    [
      `rate_limit: {${HOUR}}, block: , for: 1m`,
      [
        ['3:69 empty-block', 'block is empty: expected for indented below it, found beside it'],
        ['3:71 misplaced-key?', 'the key "for" has no effect in a descriptor; it belongs in block'],
      ],
    ],
  ])('{%s}', (fields, expected) => {
    expect(found(fields)).toEqual(expected);
  });
});
