import { parseText } from '../../../../support/rule-texts';

const DAY = 'unit: day, requests_per_unit: 9';
const messagesOf = (text: string) => parseText(text).problems.map(({ message }) => message);
const inDescriptor = (fields: string) => `domain: x\ndescriptors: [{${fields}}]`;
const inLimit = (fields: string) => inDescriptor(`key: k, rate_limit: {${fields}}`);

/** What operators read, to the letter, where a place and a class alone would not tell them what to do. */
describe('the message', () => {
  it.each<[string, string[]]>([
    ['', ['the file is empty: expected a map with domain and descriptors']],
    ['- a', ['the file is a list: expected a map with domain and descriptors']],
    ['descriptors: []', ['the file has no domain: expected domain: with a non-empty string']],
  ])('of the file %j', (text, expected) => {
    expect(messagesOf(text)).toEqual(expected);
  });

  it.each<[string, string[]]>([
    ['value: a', ['a descriptor has no key: expected a non-empty string']],
    [
      'key: a*b, value: c',
      ['a * in a key is an ordinary character, not a wildcard: found the key "a*b"'],
    ],
    [
      'key: k, value: a, share_threshold: true',
      ['share_threshold needs a value with * in it; found the value "a"'],
    ],
    [
      'key: k, share_threshold: true, value: ""',
      ['share_threshold needs a value with * in it; found no value'],
    ],
    [
      'key: k, value: a, quota_mode: true',
      ['quota_mode has no effect in a descriptor without rate_limit'],
    ],
    [
      'key: k, value: a, value: b',
      ['the key "value" is given twice in one map (before on line 2); the last one applies'],
    ],
    [
      'key: k, value: a, quota_mode: false, unit: day',
      ['the key "unit" has no effect in a descriptor; it belongs in a rate_limit'],
    ],
    ['key: k, descriptors: [1]', ['descriptors must be a list of maps, found 1 in it']],
    [
      'key: k, value: ^ab$',
      [
        'value "^ab$" is plain text, not a regular expression: only * matches other characters; did you mean "ab"?',
      ],
    ],
    [
      'key: k, value: a^b$',
      ['value "a^b$" is plain text, not a regular expression: only * matches other characters'],
    ],
    [
      'key: k, value: a, metadata: {[1]: 2}',
      [
        'metadata has no effect in a descriptor without rate_limit',
        'a key in metadata must be a string or a number; found a list',
      ],
    ],
    [
      'key: k, value: v, hash_value: true}, {key: k, value: w',
      [
        'a value of the secret key "k" is in the file in plain text: expected value_hash',
        'the values of "k" are hashed here too, because another entry with this key says so: expected hash_value: true',
        'a value of the secret key "k" is in the file in plain text: expected value_hash',
      ],
    ],
    [
      'key: k, value: v, hash_value: sha256}, {key: k, value: w',
      [
        'a value of the secret key "k" is in the file in plain text: expected value_hash',
        'the values of "k" are hashed here too, because another entry with this key says so: expected hash_value: sha256',
        'a value of the secret key "k" is in the file in plain text: expected value_hash',
      ],
    ],
  ])('of the descriptor {%s}', (fields, expected) => {
    expect(messagesOf(inDescriptor(fields))).toEqual(expected);
  });

  it.each<[string, string[]]>([
    [
      'unlimited: true, algorithm: gcra, burst: 2, charge_denied: true',
      [
        'algorithm cannot be combined with unlimited: true; expected one or the other',
        'burst cannot be combined with unlimited: true; expected one or the other',
        'charge_denied cannot be combined with unlimited: true; expected one or the other',
      ],
    ],
    [
      'unit: day, requests_per_unit: 0, algorithm: gcra',
      ['algorithm has no effect with requests_per_unit: 0, which blocks every request'],
    ],
    [
      `${DAY}, algorithm: gcra, calendar: true`,
      [
        'calendar: true needs algorithm: fixed_window, because its periods differ in length; found gcra',
      ],
    ],
    [
      'requests_per_unit: 9',
      [
        'unit is missing: expected one of second, minute, hour, day, week, month, year, or unlimited: true',
      ],
    ],
    [
      'unit: fortnight, requests_per_unit: 9',
      ['unit "fortnight" is not one of second, minute, hour, day, week, month, year'],
    ],
    [
      'unit: 5 mins, requests_per_unit: 9',
      [
        'unit "5 mins" is not one of second, minute, hour, day, week, month, year; did you mean "minute" with unit_multiplier: 5?',
      ],
    ],
    [
      'unit: x5m, requests_per_unit: 9',
      ['unit "x5m" is not one of second, minute, hour, day, week, month, year'],
    ],
    [
      'unit: 5m!, requests_per_unit: 9',
      ['unit "5m!" is not one of second, minute, hour, day, week, month, year'],
    ],
    [
      'unit: day',
      [
        'requests_per_unit is missing: expected a whole number (0 blocks every request), or unlimited: true',
      ],
    ],
    [
      'unit: day, unlimited: true',
      ['unit "day" cannot be combined with unlimited: true; expected one or the other'],
    ],
    [
      'unlimited: true, unit_multiplier: 2, calendar: true, time_zone: UTC',
      [
        'unit_multiplier cannot be combined with unlimited: true; expected one or the other',
        'calendar cannot be combined with unlimited: true; expected one or the other',
        'time_zone has no effect with unlimited: true',
      ],
    ],
    [
      `${DAY}, shadow_mode: true`,
      [
        'the key "shadow_mode" has no effect in a rate_limit, so this limit is enforced; it belongs in a descriptor',
      ],
    ],
    [
      `${DAY}, key: k`,
      ['the key "key" has no effect in a rate_limit; it belongs in a descriptor or in limits_from'],
    ],
    [
      `${DAY}, calendar: true, unit_multiplier: 2`,
      ['unit_multiplier with calendar: true needs unit: month'],
    ],
    [
      'unit: month, requests_per_unit: 9, calendar: true, unit_multiplier: 5',
      ['unit_multiplier of calendar months must be 1, 2, 3, 4 or 6; found 5'],
    ],
    ['unit: month, requests_per_unit: 9, calendar: true, unit_multiplier: 1', []],
    [
      'unit: hour, requests_per_unit: 9, calendar: true',
      ['calendar: true needs the unit day, week, month or year; found hour'],
    ],
    [
      `${DAY}, time_zone: UTC, week_start: monday, month_start: 2`,
      [
        'time_zone has no effect without calendar: true',
        'week_start has no effect without calendar: true',
        'month_start has no effect without calendar: true',
      ],
    ],
    [
      `${DAY}, calendar: true, week_start: monday, month_start: 2`,
      [
        'week_start has no effect without unit: week',
        'month_start has no effect without unit: month',
      ],
    ],
    [
      'unlimited: true, replaces: [{}]',
      ['an entry of replaces has no name: expected a limit name'],
    ],
    [
      `${DAY}, name: n, replaces: [{name: n}]`,
      ['replaces names this limit itself, "n"; expected another one\'s name'],
    ],
    [
      `${DAY}, replaces: [{name: m}]`,
      ['replaces "m" has no effect: no limit of this domain has that name'],
    ],
    [
      'unlimited: true, limits_from: {key: h}',
      [
        'limits_from cannot be combined with unlimited: true; expected unit and requests_per_unit, which apply to values without a field',
      ],
    ],
    [
      `${DAY}, limits_from: {}`,
      ['limits_from has no key: expected the key of a hash in the counter store'],
    ],
    [`${DAY}, limits_from: {key: h, refresh: ""}`, []],
    [`${DAY}, limits_from: {key: h, refresh: [1]}`, ['refresh must be a string; found a list']],
    [
      `${DAY}, limits_from: {key: h, refresh: a5s}`,
      ['refresh "a5s" is not a time from 1s to 24h, such as 10s, 5m or 1h'],
    ],
    [`${DAY}, limits_from: {key: [1]}`, ['key must be a string; found a list']],
  ])('of the limit {%s}', (fields, expected) => {
    expect(messagesOf(inLimit(fields))).toEqual(expected);
  });
});
