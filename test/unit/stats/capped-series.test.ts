import fc from 'fast-check';
import { BUDGET_FIGURES, type DescriptorStats } from '../../../src/core/decision/figures';
import { IDLE_MS } from '../../../src/stats/capped-series';
import { createChanges } from '../../../src/stats/push-output';
import { createRegistry } from '../../../src/stats/registry';
import { readChanges } from '../../support/read-changes';
import { SOME_LIMIT } from '../../support/rules';
import { readCounters } from '../../support/read-counters';

const lineOf = (metric: string): DescriptorStats => ({
  limit: SOME_LIMIT,
  metric,
  totalHits: 1,
  totalNegativeHits: 0,
  overLimit: 0,
  nearLimit: 0,
  withinLimit: 1,
  shadowMode: 0,
  overLimitWithLocalCache: 0,
});

function setUp(maxSeries: number) {
  let nowMs = 0;
  let warnings = 0;
  const registry = createRegistry({ monotonicMs: () => nowMs });
  registry.limitSeries({ maxSeries, onFull: () => (warnings += 1) });
  return {
    registry,
    warnings: () => warnings,
    wait: (ms: number) => (nowMs += ms),
    hit: (...metrics: string[]) => {
      for (const metric of metrics) registry.rules.of(metric).add(lineOf(metric));
    },
    totals: () =>
      Object.fromEntries(
        [...readCounters(registry)]
          .filter(([name]) => name.endsWith('.total_hits') || name.endsWith('overflow'))
          .map(([name, { value }]) => [
            name.replace(/^ratelimit\.(service\.rate_limit\.)?/, ''),
            value,
          ]),
      ),
  };
}

describe('a bounded number of series', () => {
  it('sums what finds no room by domain, counts it, and says so once', () => {
    const { hit, totals, warnings } = setUp(2);
    hit('shop.a', 'shop.b', 'shop.c', 'shop.d', 'shop.c', 'shop.a', 'web.x');
    expect(totals()).toEqual({
      'statistics.overflow': 4,
      'shop.a.total_hits': 2,
      'shop.b.total_hits': 1,
      'shop.overflow.total_hits': 3,
      'web.overflow.total_hits': 1,
    });
    expect(warnings()).toBe(1);
  });

  it('keeps a rule that only gave hits back', () => {
    const { registry, hit, wait, totals } = setUp(1);
    const back = { ...lineOf('shop.a'), totalHits: 0, withinLimit: 0, totalNegativeHits: 3 };
    registry.rules.of('shop.a').add(back);
    registry.rules.of('shop.b').add(lineOf('shop.b'));
    wait(IDLE_MS);
    registry.rules.of('shop.a').add(back);
    hit('shop.c');
    expect(totals()).toEqual({ 'statistics.overflow': 2, 'shop.overflow.total_hits': 2 });
    expect(registry.rules.of('shop.a').at(1)?.value).toBe(6);
  });

  it.each(BUDGET_FIGURES)('bounds %s of budgets, in a series of its own', (figure, stat) => {
    const { registry, hit } = setUp(1);
    const end = figure === 'overOneLimit' ? '.limit_hour' : '';
    for (const rule of ['shop.a', 'shop.b', 'shop.c']) {
      registry.rules.of(rule).add({ ...lineOf(rule), overLimit: 1 });
      registry.budgets[figure].of(`${rule}${end}`, 2).add(2);
    }
    hit('web.x');
    const of = (name: string) =>
      [...readCounters(registry)]
        .filter(([known]) => known === `ratelimit.service.rate_limit.${name}`)
        .map(([, { value }]) => value);
    expect(of(`shop.a${end}.${stat}`)).toEqual([2]);
    const overflow = figure === 'overOneLimit' ? 'shop.overflow.limit_overflow' : 'shop.overflow';
    expect(of(`${overflow}.${stat}`)).toEqual([4]);
    // The sum over the rules of the domain stays right.
    expect([...of('shop.a.over_limit'), ...of('shop.overflow.over_limit')]).toEqual([1, 2]);
  });

  it('bounds the domains of which descriptors were unmatched', () => {
    const { registry, totals } = setUp(1);
    for (const domain of ['a', 'b', 'c']) registry.unmatched.of(domain, 2).add(2);
    expect([...readCounters(registry)].map(([name, { value }]) => [name, value])).toEqual([
      ['ratelimit.statistics.overflow', 4],
      ['ratelimit.unmatched.a', 2],
      ['ratelimit.unmatched.overflow', 4],
    ]);
    expect(totals()).toEqual({ 'statistics.overflow': 4, 'unmatched.overflow': 4 });
  });

  it('sums domains without rules in one', () => {
    const { registry } = setUp(1);
    for (const domain of ['a', 'b', 'c']) registry.unknownDomains.of(domain).add(1);
    const names = [...readCounters(registry)].map(([name, { value }]) => [name, value]);
    expect(names).toContainEqual(['ratelimit.service.rate_limit.a.domain_not_found', 1]);
    expect(names).toContainEqual(['ratelimit.service.rate_limit.overflow.domain_not_found', 2]);
  });

  it('takes long names for several', () => {
    const { registry, hit } = setUp(10);
    for (let i = 0; i < 10; i += 1) hit(`shop.${String(i).padStart(1_500, 'x')}`);
    expect(registry.rules.size).toBe(1);
  });

  it('takes an overlong name for the beginning of it, however often it comes', () => {
    const { registry } = setUp(10);
    const metric = `shop.${'1.1.1.1 '.repeat(60_000)}`;
    const first = registry.rules.of(metric);
    for (let i = 0; i < 1_000; i += 1) expect(registry.rules.of(metric) === first).toBe(true);
    expect(first.path).toHaveLength(2_048);
  });

  it('counts every hit that came at once into the surplus', () => {
    const { registry, totals } = setUp(1);
    for (const [domain, hits] of [
      ['a', 1],
      ['b', 7],
      ['b', 2],
    ] as const) {
      registry.unknownDomains.of(domain, hits).add(hits);
    }
    expect(totals()).toEqual({ 'statistics.overflow': 9 });
  });

  it('drops nothing while there is room, however long it stands still', () => {
    const { hit, wait, totals } = setUp(3);
    hit('shop.a');
    wait(100 * IDLE_MS);
    hit('shop.b', 'shop.c');
    expect(Object.keys(totals())).toContain('shop.a.total_hits');
  });

  it('makes room of what stood still when there is none', () => {
    const { hit, wait, totals } = setUp(2);
    hit('shop.a', 'shop.b', 'shop.c');
    wait(IDLE_MS);
    hit('shop.a', 'shop.c', 'shop.d');
    expect(totals()).toEqual({
      'statistics.overflow': 2,
      'shop.a.total_hits': 2,
      'shop.c.total_hits': 1,
      'shop.overflow.total_hits': 2,
    });
  });

  it('drops nothing that an output has not told yet', () => {
    const { registry, hit, wait, totals } = setUp(1);
    const changes = createChanges(registry);
    hit('shop.a', 'shop.b');
    wait(IDLE_MS);
    hit('shop.b');
    expect(totals()).toHaveProperty(['shop.a.total_hits']);
    for (const change of readChanges(changes)) changes.acknowledge(change);
    wait(IDLE_MS);
    hit('shop.b');
    expect(totals()).not.toHaveProperty(['shop.a.total_hits']);
  });

  it('keeps sums exact, whatever comes in whatever order', () => {
    const metrics = fc.array(fc.constantFrom('d.a', 'd.b', 'd.c', 'd.1.2.3.4', 'd.1_2_3_4', 'e.a'));
    fc.assert(
      fc.property(metrics, fc.integer({ min: 1, max: 4 }), (list, max) => {
        const { hit, totals } = setUp(max);
        hit(...list);
        const hits = Object.entries(totals()).filter(([name]) => name.endsWith('.total_hits'));
        expect(hits.reduce((sum, [, value]) => sum + value, 0)).toBe(list.length);
      }),
    );
  });
});
