import fc from 'fast-check';
import type { Entry } from '../../../../src/core/model';
import type { DomainRules } from '../../../../src/core/rules/rules';
import { dumpRules } from '../../../../src/core/rules/dump';
import { counterName } from '../../../../src/core/rules/key-template';
import { matchDescriptor, type Match } from '../../../../src/core/rules/match';
import { descriptor } from '../../../support/requests';
import { rulesOf, type RuleSketch } from '../../../support/rules';

function match(sketches: readonly RuleSketch[], entries: string[], limit?: [number, number]) {
  const rules = rulesOf('d', sketches).domains.get('d');
  if (rules === undefined) throw new Error('no domain');
  const override = limit && { requestsPerUnit: limit[0], unit: limit[1] };
  const found = limited(matchDescriptor(rules, descriptor(entries, { limit: override })));
  return (
    found && {
      requests: found.limit.requestsPerUnit,
      counterName: counterName(found.template, found.entries),
      metric: found.metric,
    }
  );
}

function limited(found: ReturnType<typeof matchDescriptor>): Match | undefined {
  return typeof found === 'object' ? found : undefined;
}

describe('matchDescriptor', () => {
  const shop: RuleSketch[] = [
    {
      key: 'user',
      value: 'ann',
      rules: [
        { key: 'path', limit: [3, 'MINUTE'] },
        { key: 'path', value: '/cart', limit: [2, 'HOUR'] },
      ],
    },
    { key: 'user', limit: [1, 'MINUTE'] },
    { key: 'path', value: '/v*', limit: [7, 'HOUR'] },
  ];

  it.each([
    [['user=bob'], 1, 'd_user_bob', 'd.user'],
    [['user=ann', 'path=/cart'], 2, 'd_user_ann_path_/cart', 'd.user_ann.path_/cart'],
    [['user=ann', 'path=/pay'], 3, 'd_user_ann_path_/pay', 'd.user_ann.path'],
    [['path=/v1'], 7, 'd_path_/v1', 'd.path_/v*'],
  ])('%j takes the most specific rule', (entries, requests, counterName, metric) => {
    expect(match(shop, entries)).toEqual({ requests, counterName, metric });
  });

  it.each([
    ['a placeholder limits nothing itself', ['user=ann']],
    ['a longer descriptor does not match a shorter rule', ['user=bob', 'path=/']],
    ['an unknown key on the top level', ['nobody=x']],
    ['an unknown key below', ['user=ann', 'verb=GET']],
    ['no entries', []],
    ['a value that no wildcard takes', ['path=/x']],
  ])('%s', (_, entries) => {
    expect(match(shop, entries)).toBeUndefined();
  });

  it('tells a rule without a limit from no rule', () => {
    const rules = rulesOf('d', shop).domains.get('d') as DomainRules;
    expect(matchDescriptor(rules, descriptor(['user=ann']))).toBe('placeholder');
    expect(matchDescriptor(rules, descriptor(['user=ann', 'verb=GET']))).toBeUndefined();
  });

  it('compares key and value as two texts', () => {
    expect(match([{ key: 'a_b', limit: [1, 'DAY'] }], ['a=b'])).toBeUndefined();
    expect(match([{ key: 'user', value: '*', limit: [1, 'DAY'] }], ['user_id=1'])).toBeUndefined();
  });

  it('counts all values of a shared wildcard under its pattern, and names its text before the star', () => {
    const shared: RuleSketch = { key: 'f', value: 'a/*', shareThreshold: true, limit: [1, 'DAY'] };
    const expected = { requests: 1, counterName: 'd_f_a/*', metric: 'd.f_a/' };
    expect(match([shared], ['f=a/1'])).toEqual(expected);
    expect(match([{ ...shared, detailedMetric: true }], ['f=a/1'])).toEqual(expected);
    expect(match([{ ...shared, valueToMetric: true }], ['f=a/1'])).toEqual(expected);
  });

  it.each([
    ['detailed_metric names the value of every level', { detailedMetric: true }, {}, 'd.o_x.u_1'],
    [
      'detailed_metric goes before value_to_metric',
      { detailedMetric: true, valueToMetric: true },
      {},
      'd.o_x.u_1',
    ],
    ['value_to_metric names the value of its level', { valueToMetric: true }, {}, 'd.o.u_1'],
    ['value_to_metric above reaches only its level', {}, { valueToMetric: true }, 'd.o_x.u'],
  ])('%s', (_, below, above, metric) => {
    const rules = [
      { key: 'o', ...above, rules: [{ key: 'u', ...below, limit: [1, 'DAY'] as const }] },
    ];
    expect(match(rules, ['o=x', 'u=1'])?.metric).toBe(metric);
  });

  it('keeps an empty value in a detailed metric and drops it from value_to_metric', () => {
    expect(match([{ key: 'k', detailedMetric: true, limit: [1, 'DAY'] }], ['k'])?.metric).toBe(
      'd.k_',
    );
    expect(match([{ key: 'k', valueToMetric: true, limit: [1, 'DAY'] }], ['k'])?.metric).toBe(
      'd.k',
    );
  });

  const pair = (below: Partial<RuleSketch>, above: Partial<RuleSketch>) =>
    match([{ key: 'o', ...above, rules: [{ key: 'u', ...below, limit: [1, 'DAY'] }] }], ['o', 'u'])
      ?.metric;
  const [any, some] = [{ value: '*' }, { value: '*', shareThreshold: true }];
  const [named, detailed] = [{ valueToMetric: true }, { detailedMetric: true }];

  it.each([
    ['below value_to_metric keeps the star', any, named, 'd.o.u_*'],
    ['above value_to_metric keeps the star', named, any, 'd.o_*.u'],
    ['with value_to_metric ends at the key', { ...any, ...named }, {}, 'd.o.u'],
    ['with value_to_metric below such a one ends at the key', { ...any, ...named }, named, 'd.o.u'],
    ['between no metric flags keeps the star', any, any, 'd.o_*.u_*'],
    ['with share_threshold below value_to_metric ends before the star', some, named, 'd.o.u_'],
    [
      'with share_threshold and value_to_metric ends before the star',
      { ...some, ...named },
      any,
      'd.o_*.u_',
    ],
    ['with detailed_metric ends with _', { ...any, ...detailed }, {}, 'd.o_.u_'],
    [
      'with detailed_metric and value_to_metric ends with _',
      { ...any, ...detailed, ...named },
      named,
      'd.o_.u_',
    ],
    [
      'with detailed_metric below share_threshold ends at the key',
      { ...any, ...detailed },
      some,
      'd.o_.u',
    ],
    [
      'above share_threshold with detailed_metric ends at the key',
      { ...some, ...detailed },
      any,
      'd.o.u_',
    ],
  ])('an empty value %s', (_, below, above, metric) => {
    expect(pair(below, above)).toBe(metric);
  });

  it('takes a value that reads as a shared wildcard for one value, beside which an empty one keeps its _', () => {
    const rules: RuleSketch[] = [
      {
        key: 'o',
        rules: [
          { key: 'u', value: 'a*', shareThreshold: true, detailedMetric: true, limit: [1, 'DAY'] },
        ],
      },
    ];
    expect(match(rules, ['o', 'u=ab'])?.metric).toBe('d.o.u_a');
    expect(match(rules, ['o', 'u=a*'])?.metric).toBe('d.o_.u_a');
  });

  it('prefers the wildcard that reads as the value does to one before it in the file', () => {
    const rules: RuleSketch[] = [
      { key: 'f', value: '*', limit: [1, 'DAY'] },
      { key: 'f', value: 'a*', limit: [2, 'DAY'] },
    ];
    expect(match(rules, ['f=a*'])?.requests).toBe(2);
    expect(match(rules, ['f=ab'])?.requests).toBe(1);
  });

  it('lets a limit in the request beat every rule, also where there is none', () => {
    expect(match([{ key: 'k', limit: { unlimited: true } }], ['k=v', 'x'], [5, 7])).toEqual({
      requests: 5,
      counterName: 'd_k_v_x_',
      metric: 'd.k_v.x',
    });
  });
});

describe('the template and the values of a match', () => {
  const tree: RuleSketch[] = [
    {
      key: 'a',
      rules: [{ key: 'b', limit: [1, 'DAY'], rules: [{ key: 'c', limit: [2, 'DAY'] }] }],
    },
    { key: 'a', value: '1', rules: [{ key: 'b', limit: [3, 'DAY'] }] },
    { key: 'f', value: '1*', shareThreshold: true, rules: [{ key: 'b', limit: [4, 'DAY'] }] },
  ];
  const domain = rulesOf('d', tree).domains.get('d') as DomainRules;
  const text = fc.string({ unit: fc.constantFrom('1', ':', '_', '2'), maxLength: 3 });
  const entries = fc
    .tuple(fc.constantFrom('a', 'f'), fc.array(text, { minLength: 1, maxLength: 3 }))
    .map(([top, values]) => values.map((value, i) => ({ key: [top, 'b', 'c'][i] ?? '', value })));
  const find = (path: readonly Entry[]) =>
    limited(
      matchDescriptor(domain, {
        entries: path,
        hits: undefined,
        limit: undefined,
        isNegativeHits: false,
      }),
    );

  it('name its counter as the reference does', () => {
    fc.assert(
      fc.property(entries, (path) => {
        const found = find(path);
        fc.pre(found !== undefined);
        const named = path.map(({ key, value }) => `_${key}_${key === 'f' ? '1*' : value}`);
        expect(counterName(found.template, found.entries)).toBe(`d${named.join('')}`);
      }),
    );
  });

  it('are equal only for one counter', () => {
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        const [a, b] = [find(one), find(other)];
        fc.pre(a !== undefined && b !== undefined);
        const isSame = a.template === b.template && a.values === b.values;
        const shared = (path: readonly Entry[]) =>
          path.map(({ key, value }) => [key, key === 'f' ? '1*' : value]);
        expect(isSame).toBe(JSON.stringify(shared(one)) === JSON.stringify(shared(other)));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('dumpRules', () => {
  it('prints one line for each limit, on every level', () => {
    const rules = rulesOf('a', [
      {
        key: 'k',
        value: 'w*',
        shadowMode: true,
        limit: [7, 'WEEK'],
        rules: [{ key: 'inner', quotaMode: true, limit: [0, 'SECOND'] }],
      },
      { key: 'k', value: 'v', limit: [1, 'DAY'] },
      { key: 'free', limit: { unlimited: true } },
      { key: 'empty' },
    ]);
    expect(dumpRules(rules)).toEqual([
      'a.k_v: unit=DAY requests_per_unit=1, shadow_mode: false, quota_mode: false',
      'a.k_w*: unit=WEEK requests_per_unit=7, shadow_mode: true, quota_mode: false',
      'a.k_w*.inner: unit=SECOND requests_per_unit=0, shadow_mode: false, quota_mode: true',
      'a.free: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: false',
    ]);
  });
});
