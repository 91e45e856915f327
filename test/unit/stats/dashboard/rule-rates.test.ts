import type { BatchStats, DescriptorStats } from '../../../../src/core/decision/figures';
import type { RuleLimit } from '../../../../src/core/rules/rules';
import { compileRules } from '../../../../src/core/rules/compile';
import { RuleRates } from '../../../../src/stats/dashboard/rule-rates';
import { definitionsOf } from '../../../support/rules';

const rules = compileRules([
  {
    domain: 'my.shop',
    rules: definitionsOf([
      {
        key: 'user',
        limit: [2, 'HOUR'],
        shadowMode: true,
        rules: [{ key: 'path', value: '/a', limit: { unlimited: true, name: 'free' } }],
      },
      { key: 'path', value: '/files/*', limit: [5, 'SECOND'], quotaMode: true },
    ]),
  },
  { domain: 'empty', rules: [] },
]);

function statsOf(lines: readonly Partial<DescriptorStats>[]): BatchStats {
  const none = { totalHits: 0, overLimit: 0, nearLimit: 0, withinLimit: 0, shadowMode: 0 };
  return {
    rules: lines.map(
      (line) => ({ ...none, overLimitWithLocalCache: 0, ...line }) as DescriptorStats,
    ),
    unmet: { unknownDomains: [], unmatched: undefined },
    serviceErrors: 0,
    storeErrors: 0,
    storeTimeouts: 0,
    breakerOpen: 0,
    answeredLocally: 0,
    globalShadowMode: 0,
    requests: 0,
    abandoned: 0,
  };
}

describe('hits by rule', () => {
  const limitAt = (rates: RuleRates, id: number) => rates.tree.limits[id]?.limit as RuleLimit;

  it('lists the rules as a tree with the place of their figures', () => {
    const { domains, unlisted } = new RuleRates(rules).tree;
    const off = { shadow: false, quota: false, unlimited: false, name: '' };
    expect(domains).toEqual([
      {
        name: 'my.shop',
        rules: [
          {
            key: 'user',
            value: undefined,
            limit: { ...off, id: 0, requestsPerUnit: 2, unit: 'HOUR', shadow: true },
            children: [
              {
                key: 'path',
                value: '/a',
                limit: {
                  ...off,
                  id: 1,
                  requestsPerUnit: 0,
                  unit: 'SECOND',
                  unlimited: true,
                  name: 'free',
                },
                children: [],
              },
            ],
          },
          {
            key: 'path',
            value: '/files/*',
            limit: { ...off, id: 2, requestsPerUnit: 5, unit: 'SECOND', quota: true },
            children: [],
          },
        ],
      },
      { name: 'empty', rules: [] },
    ]);
    expect(unlisted).toBe(0);
  });

  it('sums by rule, by domain and in all, and starts again when it was taken', () => {
    const rates = new RuleRates(rules);
    const lines = [
      {
        limit: limitAt(rates, 0),
        metric: 'my.shop.user',
        totalHits: 5,
        overLimit: 2,
        shadowMode: 2,
      },
      { limit: limitAt(rates, 0), metric: 'my.shop.user', totalHits: 1, nearLimit: 1 },
      { limit: limitAt(rates, 2), metric: 'my.shop.path', totalHits: 3 },
    ];
    rates.record(statsOf(lines));
    expect(rates.take()).toEqual({
      rules: [
        [0, [6, 1, 2, 2]],
        [2, [3, 0, 0, 0]],
      ],
      domains: [[0, [9, 1, 2, 2]]],
      total: [9, 1, 2, 2],
    });
    expect(rates.take()).toEqual({ rules: [], domains: [], total: [0, 0, 0, 0] });
  });

  it('adds limits of requests to their domain, and those of no domain to the total', () => {
    const rates = new RuleRates(rules);
    const limit = { ...limitAt(rates, 0) };
    rates.record(
      statsOf([
        { limit, metric: 'my.shop.user_ann', totalHits: 4 },
        { limit: { ...limit, domain: 'gone' }, metric: 'gone.user_ann', totalHits: 2 },
      ]),
    );
    expect(rates.take()).toEqual({ rules: [], domains: [[0, [4, 0, 0, 0]]], total: [6, 0, 0, 0] });
  });

  it('lists so many rules and says how many there are more; those are counted all the same', () => {
    const many = Array.from({ length: 2_500 }, (_, i) => ({ key: `k${String(i)}` }));
    const large = compileRules([
      { domain: 'big', rules: definitionsOf(many.map((one) => ({ ...one, limit: [1, 'DAY'] }))) },
      { domain: 'late', rules: [] },
    ]);
    const rates = new RuleRates(large);
    const { domains, limits, unlisted } = rates.tree;
    expect([domains.length, limits.length, unlisted]).toEqual([1, 1_999, 501]);
    const limit = { ...limitAt(rates, 0) };
    rates.record(statsOf([{ limit, metric: 'big.k2400', totalHits: 7 }]));
    expect(rates.take().domains).toEqual([[0, [7, 0, 0, 0]]]);
  });

  it('cuts texts that are too long to show', () => {
    const [domain] = new RuleRates(
      compileRules([{ domain: 'd'.repeat(900), rules: definitionsOf([{ key: 'k'.repeat(900) }]) }]),
    ).tree.domains;
    expect([domain?.name.length, domain?.rules[0]?.key.length]).toEqual([257, 257]);
  });
});
