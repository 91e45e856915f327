import { findMeetingDomains } from '../../../../src/core/rules/find-meeting-domains';
import { definitionsOf, type RuleSketch } from '../../../support/rules';

const LIMIT = { limit: [1, 'HOUR'] } as const;
const any = (key: string, more: Partial<RuleSketch> = LIMIT): RuleSketch => ({ key, ...more });
const one = (key: string, value: string, more: Partial<RuleSketch> = LIMIT): RuleSketch => ({
  key,
  value,
  ...more,
});

/** Each pair as `domain.key and domain.key`. */
function meeting(sketches: Readonly<Record<string, readonly RuleSketch[]>>): readonly string[] {
  const domains = Object.entries(sketches).map(([domain, rules]) => ({
    domain,
    rules: definitionsOf(rules),
  }));
  return findMeetingDomains(domains).map(({ domains: names, rules }) =>
    names.map((name, at) => `${name}.${rules[at]?.key ?? ''}`).join(' and '),
  );
}

describe('domains whose counters meet', () => {
  it.each<[string, Readonly<Record<string, readonly RuleSketch[]>>, readonly string[]]>([
    ['any value of one', { a: [any('b')], a_b: [one('c', 'd')] }, ['a.b and a_b.c']],
    ['a whole key', { a: [one('b_c', 'd')], a_b: [one('c', 'd')] }, ['a.b_c and a_b.c']],
    ['two values', { a: [one('b', 'c_x')], a_b: [one('c', 'x')] }, ['a.b and a_b.c']],
    ['any value of both', { a: [any('b_c')], a_b: [any('c')] }, ['a.b_c and a_b.c']],
    [
      'the later in the alphabet has the shorter text',
      { a_b: [any('c')], a: [one('b_c', 'd')] },
      ['a.b_c and a_b.c'],
    ],
    [
      'what a wildcard begins with',
      { a: [one('b', 'c*')], a_b: [one('c', 'd')] },
      ['a.b and a_b.c'],
    ],
    ['a wildcard in front', { a: [one('b', '*c')], a_b: [one('c', 'd')] }, ['a.b and a_b.c']],
    [
      'a wildcard beside its own value',
      { a: [one('b', 'c'), one('b', 'c*')], a_b: [one('c', 'd')] },
      ['a.b and a_b.c'],
    ],
    [
      'what stands below any value',
      { a: [any('b', { rules: [one('e', 'f')] })], a_b: [one('c', 'd')] },
      ['a.e and a_b.c'],
    ],
    [
      'what stands below one value',
      { a: [one('b', 'c', { rules: [one('d', 'e')] })], a_b: [one('c', 'd_e')] },
      ['a.d and a_b.c'],
    ],
    [
      'the first limits of a pair',
      { a: [any('b'), any('b_c')], a_b: [one('c', 'd'), one('c', 'e')] },
      ['a.b and a_b.c'],
    ],
    [
      'three of them',
      { a: [any('b_c')], a_b: [any('c')], a_b_c: [one('d', 'e')] },
      ['a.b_c and a_b.c', 'a.b_c and a_b_c.d', 'a_b.c and a_b_c.d'],
    ],
    [
      'two pairs that have nothing in common',
      { z: [any('y')], a: [any('b')], z_y: [one('c', 'd')], a_b: [one('c', 'd')] },
      ['a.b and a_b.c', 'z.y and z_y.c'],
    ],
  ])('%s', (_, sketches, expected) => {
    expect(meeting(sketches)).toEqual(expected);
  });

  it.each<[string, Readonly<Record<string, readonly RuleSketch[]>>]>([
    ['other keys', { a: [any('c')], a_b: [any('c')] }],
    ['other values', { a: [one('b', 'x')], a_b: [one('c', 'd')] }],
    ['a value that goes on', { a: [one('b', 'c')], a_b: [one('c', 'd')] }],
    ['another wildcard', { a: [one('b', 'x*')], a_b: [one('c', 'd')] }],
    ['a name that only ends alike', { a: [any('b')], b: [one('a_b_', 'd')] }],
    ['one domain', { a: [any('b'), any('b_c')] }],
    ['no limit', { a: [any('b', {})], a_b: [one('c', 'd')] }],
    ['no limit there', { a: [any('b')], a_b: [one('c', 'd', {})] }],
    ['unlimited', { a: [any('b', { limit: { unlimited: true } })], a_b: [one('c', 'd')] }],
    [
      'keys that name their domain',
      {
        a: [any('b', { limit: { requestsPerUnit: 1, unit: 'HOUR', algorithm: 'gcra' } })],
        a_b: [one('c', 'd')],
      },
    ],
    [
      'keys of calendar periods',
      {
        a: [
          any('b', {
            limit: {
              requestsPerUnit: 1,
              unit: 'DAY',
              calendar: { timeZone: 'UTC', weekStart: 'monday', monthStart: 1 },
            },
          }),
        ],
        a_b: [one('c', 'd')],
      },
    ],
  ])('are none with %s', (_, sketches) => {
    expect(meeting(sketches)).toEqual([]);
  });
});
