import fc from 'fast-check';
import type { BatchStats, DescriptorStats } from '../../../src/core/decision/figures';
import { createRecordStats } from '../../../src/stats/record-stats';
import { createRegistry } from '../../../src/stats/registry';
import { SOME_LIMIT } from '../../support/rules';
import { readCounters } from '../../support/read-counters';

const NOTHING: BatchStats = {
  rules: [],
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

function line(metric: string, counts: Partial<Omit<DescriptorStats, 'metric'>>): DescriptorStats {
  return {
    limit: SOME_LIMIT,
    metric,
    totalHits: 0,
    totalNegativeHits: 0,
    overLimit: 0,
    nearLimit: 0,
    withinLimit: 0,
    shadowMode: 0,
    overLimitWithLocalCache: 0,
    ...counts,
  };
}

function record(...tallies: readonly Partial<BatchStats>[]) {
  const registry = createRegistry();
  const recordStats = createRecordStats(registry);
  for (const batchStats of tallies) recordStats({ ...NOTHING, ...batchStats });
  return Object.fromEntries(
    [...readCounters(registry)]
      .filter(([, { value }]) => value > 0)
      .map(([name, c]) => [name, c.value]),
  );
}

describe('createRecordTally', () => {
  it('counts the seven figures of a rule under their names', () => {
    const rule = line('shop.user_ann.path', {
      totalHits: 7,
      totalNegativeHits: 6,
      overLimit: 5,
      nearLimit: 4,
      withinLimit: 3,
      shadowMode: 2,
      overLimitWithLocalCache: 1,
    });
    expect(record({ rules: [rule] })).toEqual({
      'ratelimit.service.rate_limit.shop.user_ann.path.total_hits': 7,
      'ratelimit.service.rate_limit.shop.user_ann.path.total_negative_hits': 6,
      'ratelimit.service.rate_limit.shop.user_ann.path.over_limit': 5,
      'ratelimit.service.rate_limit.shop.user_ann.path.near_limit': 4,
      'ratelimit.service.rate_limit.shop.user_ann.path.within_limit': 3,
      'ratelimit.service.rate_limit.shop.user_ann.path.shadow_mode': 2,
      'ratelimit.service.rate_limit.shop.user_ann.path.over_limit_with_local_cache': 1,
    });
  });

  it('makes no statistic of a figure that is zero', () => {
    const registry = createRegistry();
    createRecordStats(registry)({
      ...NOTHING,
      rules: [line('d.k', { totalHits: 1 }), line('d.l', {})],
    });
    const names = [...readCounters(registry)].map(([name]) => name);
    const rules = names.filter((name) => name.includes('.rate_limit.'));
    expect(rules).toEqual(['ratelimit.service.rate_limit.d.k.total_hits']);
  });

  it('counts every descriptor of a request in an unknown domain', () => {
    expect(
      record({
        unmet: { unknownDomains: [{ domain: 'nowhere', descriptors: 256 }], unmatched: undefined },
      }),
    ).toEqual({
      'ratelimit.service.rate_limit.nowhere.domain_not_found': 256,
    });
  });

  it('counts the descriptors that no rule of their domain matched, outside the names of rules', () => {
    const unmet = {
      unknownDomains: [],
      unmatched: new Map([
        ['shop', 3],
        ['a.b:c', 1],
      ]),
    };
    expect(record({ unmet }, { unmet })).toEqual({
      'ratelimit.unmatched.shop': 6,
      'ratelimit.unmatched.a.b_c': 2,
    });
  });

  it('counts errors, overrides and each request in an unknown domain', () => {
    const batchStats = {
      unmet: {
        unknownDomains: [
          { domain: 'nowhere', descriptors: 1 },
          { domain: 'no:where', descriptors: 1 },
          { domain: 'nowhere', descriptors: 1 },
        ],
        unmatched: undefined,
      },
      serviceErrors: 2,
      storeErrors: 3,
      globalShadowMode: 4,
      abandoned: 5,
    };
    expect(record(batchStats, batchStats)).toEqual({
      'ratelimit.service.rate_limit.nowhere.domain_not_found': 4,
      'ratelimit.service.rate_limit.no_where.domain_not_found': 2,
      'ratelimit.service.call.should_rate_limit.service_error': 4,
      'ratelimit.service.call.should_rate_limit.redis_error': 6,
      'ratelimit.service.global_shadow_mode': 8,
      'ratelimit.service.call.should_rate_limit.abandoned': 10,
    });
  });

  it('shows the errors and overrides that never happened', () => {
    const registry = createRegistry();
    createRecordStats(registry);
    expect([...readCounters(registry)].map(([name]) => name)).toEqual([
      'ratelimit.statistics.overflow',
      'ratelimit.service.call.should_rate_limit.service_error',
      'ratelimit.service.call.should_rate_limit.redis_error',
      'ratelimit.service.call.should_rate_limit.redis_timeout',
      'ratelimit.service.call.should_rate_limit.breaker_open',
      'ratelimit.service.call.should_rate_limit.answered_locally',
      'ratelimit.service.call.should_rate_limit.abandoned',
      'ratelimit.service.global_shadow_mode',
    ]);
  });

  it('sums metrics that have the same name once they are clean', () => {
    const rules = ['d.a_1.2.3.4', 'd.a_1_2_3_4'].map((metric) => line(metric, { totalHits: 1 }));
    expect(record({ rules })).toEqual({
      'ratelimit.service.rate_limit.d.a_1_2_3_4.total_hits': 2,
    });
  });

  it('sums overlong metrics that differ only where they are cut', () => {
    const metric = 'd.' + 'x'.repeat(70_000);
    const rules = [line(`${metric}1`, { totalHits: 1 }), line(`${metric}2`, { totalHits: 1 })];
    expect(Object.values(record({ rules }))).toEqual([2]);
  });

  it('counts the same in one batch as in many', () => {
    const figure = fc.nat({ max: 5 });
    const anyLine = fc
      .record({
        metric: fc.constantFrom('d.a', 'd.b', 'd.b|c'),
        totalHits: figure,
        overLimit: figure,
      })
      .map(({ metric, ...counts }) => line(metric, counts));
    fc.assert(
      fc.property(fc.array(anyLine), (rules) => {
        expect(record({ rules })).toEqual(record(...rules.map((rule) => ({ rules: [rule] }))));
      }),
    );
  });
});
