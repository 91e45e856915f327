import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
import { parseText, problemsOf, rulesOf } from '../../../../support/rule-texts';

/** A rule file whose limit, on line 4, begins in column 18. */
const inLimit = (fields: string): string =>
  `domain: x\ndescriptors:\n  - key: k\n    rate_limit: {${fields}}\n`;

const limitOf = (fields: string) => rulesOf(inLimit(fields))[0]?.limit;

const messageOf = (fields: string) => parseText(inLimit(fields)).problems.map((one) => one.message);

const DAY = 'unit: day, requests_per_unit: 9';

describe('how a limit counts', () => {
  it.each([
    ['fixed_window', 'fixed_window'],
    ['gcra', 'gcra'],
    ['token_bucket', 'gcra'],
    ['sliding_window', 'sliding_window'],
  ])('algorithm: %s is %s', (written, algorithm) => {
    expect(limitOf(`${DAY}, algorithm: ${written}`)).toMatchObject({ algorithm });
  });

  it.each([
    ['burst: 20', { burst: 20, chargeDenied: undefined }],
    ['burst: 50_000_000, charge_denied: true', { burst: 50_000_000, chargeDenied: true }],
    ['burst: ~, charge_denied: off', { burst: undefined, chargeDenied: false }],
  ])('takes %s', (fields, expected) => {
    expect(limitOf(`${DAY}, algorithm: gcra, ${fields}`)).toMatchObject(expected);
  });

  it.each([
    ['', { unitMultiplier: undefined, calendar: undefined }],
    [', unit_multiplier: 1', { unitMultiplier: 1 }],
    [', unit_multiplier: 3650', { unitMultiplier: 3650 }],
    [', calendar: false', { calendar: undefined }],
    [', calendar: true', { calendar: { timeZone: 'UTC', weekStart: 'monday', monthStart: 1 } }],
    [
      ', calendar: true, time_zone: Europe/Berlin',
      { calendar: { timeZone: 'Europe/Berlin', weekStart: 'monday', monthStart: 1 } },
    ],
  ])('reads the period of a day%s', (fields, expected) => {
    expect(limitOf(DAY + fields)).toMatchObject(expected);
  });

  it.each([
    ['week', 'week_start: saturday', { weekStart: 'saturday' }],
    ['month', 'month_start: 28, unit_multiplier: 6', { monthStart: 28 }],
    ['year', 'time_zone: ""', { timeZone: 'UTC' }],
  ])('reads a calendar %s with %s', (unit, fields, calendar) => {
    const limit = limitOf(`unit: ${unit}, requests_per_unit: 1, calendar: true, ${fields}`);
    expect(limit?.calendar).toMatchObject(calendar);
  });

  it.each<[string, string[]]>([
    [`${DAY}, algorithm: leaky`, ['4:62 bad-algorithm']],
    [`${DAY}, algorithm: [gcra]`, ['4:62 wrong-type']],
    [`${DAY}, burst: 5`, ['4:58 burst-without-gcra']],
    [`${DAY}, algorithm: sliding_window, burst: 5`, ['4:85 burst-without-gcra']],
    [`${DAY}, algorithm: nonsense, burst: 5`, ['4:62 bad-algorithm']],
    [`${DAY}, algorithm: gcra, burst: 0`, ['4:75 bad-burst']],
    [`${DAY}, algorithm: gcra, burst: 50000001`, ['4:75 bad-burst']],
    [`${DAY}, algorithm: gcra, burst: 1.5`, ['4:75 bad-burst']],
    [`${DAY}, charge_denied: 1`, ['4:66 wrong-type']],
    ['unit: day, requests_per_unit: 50000001, algorithm: gcra', ['4:48 limit-too-large']],
    ['unit: day, requests_per_unit: 50000001, algorithm: fixed_window', []],
    ['unit: day, requests_per_unit: 50000000, algorithm: sliding_window', []],
    [
      `unit: year, unit_multiplier: 3, requests_per_unit: 1, algorithm: gcra`,
      ['4:47 period-too-long'],
    ],
    ['unlimited: true, algorithm: gcra', ['4:46 algorithm-beside-unlimited']],
    ['unlimited: true, burst: 3', ['4:42 algorithm-beside-unlimited']],
    ['unlimited: true, charge_denied: false', ['4:50 algorithm-beside-unlimited']],
    ['unlimited: true, unit_multiplier: 2', ['4:52 unit-beside-unlimited']],
    ['unlimited: true, calendar: true', ['4:45 unit-beside-unlimited']],
    ['unlimited: true, calendar: false', []],
    ['unlimited: true, time_zone: UTC', ['4:46 idle-key?']],
    [`${DAY}, calendar: true, algorithm: gcra`, ['4:78 calendar-needs-fixed']],
    [`${DAY}, calendar: true, algorithm: fixed_window, charge_denied: false`, []],
    ['unit: day, requests_per_unit: 0, algorithm: gcra', ['4:62 idle-key?']],
    [`${DAY}, unit_multiplier: 0`, ['4:68 bad-multiplier']],
    [`${DAY}, unit_multiplier: -1`, ['4:68 bad-multiplier']],
    [`${DAY}, unit_multiplier: 3651`, ['4:68 bad-multiplier']],
    [`${DAY}, unit_multiplier: two`, ['4:68 bad-multiplier']],
    [`${DAY}, calendar: true, unit_multiplier: 2`, ['4:84 bad-multiplier']],
    [
      'unit: month, requests_per_unit: 1, calendar: true, unit_multiplier: 5',
      ['4:86 bad-multiplier'],
    ],
    ['unit: hour, requests_per_unit: 1, calendar: true', ['4:62 calendar-unit']],
    [`${DAY}, calendar: maybe`, ['4:61 wrong-type']],
    [`${DAY}, calendar: true, time_zone: Europe/Belrin`, ['4:78 bad-time-zone']],
    [`${DAY}, calendar: true, time_zone: "+01:00"`, ['4:78 bad-time-zone']],
    [`${DAY}, time_zone: UTC`, ['4:62 idle-key?']],
    [`${DAY}, month_start: 3, week_start: sunday`, ['4:64 idle-key?', '4:79 idle-key?']],
    [`${DAY}, calendar: true, month_start: 3`, ['4:80 idle-key?']],
    [`${DAY}, calendar: true, week_start: sunday`, ['4:79 idle-key?']],
    [
      'unit: month, requests_per_unit: 1, calendar: true, month_start: 29',
      ['4:82 bad-month-start'],
    ],
    [
      'unit: week, requests_per_unit: 1, calendar: true, week_start: friday',
      ['4:80 bad-week-start'],
    ],
    [
      'unit: fortnight, requests_per_unit: 1, algorithm: gcra, unit_multiplier: 2',
      ['4:24 bad-unit'],
    ],
    [`${DAY}, algoritm: gcra, burst: 3`, ['4:51 unknown-key']],
  ])('%s: %j', (fields, expected) => {
    expect(problemsOf(inLimit(fields))).toEqual(expected);
  });

  it.each([
    [
      `${DAY}, algorithm: gcar`,
      'algorithm "gcar" is not one of fixed_window, gcra, sliding_window, token_bucket, in_flight; did you mean "gcra"?',
    ],
    [`${DAY}, calendar: true, time_zone: Europe/Belrin`, 'did you mean "Europe/Berlin"?'],
    [`${DAY}, burst: 3`, 'burst needs algorithm: gcra; found no algorithm'],
    [
      `${DAY}, algorithm: gcra, burst: 0`,
      'burst must be a whole number from 1 to 50000000, unquoted; found 0',
    ],
    [
      'unit: day, requests_per_unit: 60000000, algorithm: gcra',
      'requests_per_unit must be at most 50000000 under gcra; found 60000000',
    ],
    [
      'unit: year, unit_multiplier: 3, requests_per_unit: 1, algorithm: gcra',
      'a period must be at most 90000000 seconds long under gcra; found 94608000',
    ],
    [
      'unit: week, requests_per_unit: 1, calendar: true, week_start: sundae',
      'did you mean "sunday"?',
    ],
    [
      `${DAY}, unit_multiplier: 0`,
      'unit_multiplier must be a whole number from 1 to 3650, unquoted; found 0',
    ],
  ])('%s says what was expected', (fields, message) => {
    expect(messageOf(fields).join('\n')).toContain(message);
  });
});

it.each([
  ['America/Newville', ['America/Newville'], []],
  ['America/Oldtown', ['America/Oldtown'], ['bad-time-zone']],
  ['America', [], ['bad-time-zone']],
  ['../America/Newville', [], ['bad-time-zone']],
  ['America/tz.tab', [], ['bad-time-zone']],
  ['"+01:00"', [], ['bad-time-zone']],
  ['Europe/Berlin', [], []],
])('asks newer data of a zone that the runtime does not know: %s', (zone, expected, mistakes) => {
  const asked: string[] = [];
  const hasZone = (name: string): boolean => {
    asked.push(name);
    return name === 'America/Newville';
  };
  const source = readRuleFile('rules.yaml', inLimit(`${DAY}, calendar: true, time_zone: ${zone}`));
  const { problems } = parseRuleFiles([source], { mergeDomains: false, hasZone });
  expect(problems.map(({ class: name }) => name)).toEqual(mistakes);
  expect(asked).toEqual(expected);
});

describe('a store that counts fixed windows alone', () => {
  const refused = (fields: string) => {
    const source = readRuleFile('rules.yaml', inLimit(fields));
    const abilities = { kind: 'memstore', scripts: false } as const;
    const options = { mergeDomains: false, abilities };
    return parseRuleFiles([source], options).problems.map(({ class: name, message }) => [
      name,
      message,
    ]);
  };

  it.each([
    [`${DAY}, algorithm: gcra, burst: 3, charge_denied: true`, 'algorithm: gcra'],
    [`${DAY}, algorithm: sliding_window`, 'algorithm: sliding_window'],
    [`${DAY}, charge_denied: false`, 'charge_denied: false'],
  ])('refuses {%s}, once', (fields, asked) => {
    const message = `${asked} cannot be counted in memcached; expected BACKEND_TYPE=kvstore or memory, or a fixed window without charge_denied: false`;
    expect(refused(fields)).toEqual([['store-without-algorithms', message]]);
  });

  it.each([
    `${DAY}, algorithm: fixed_window, charge_denied: true`,
    `${DAY}, unit_multiplier: 3`,
    `${DAY}, calendar: true`,
  ])('takes {%s}', (fields) => {
    expect(refused(fields)).toEqual([]);
  });
});
