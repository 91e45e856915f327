import { dumpJson, dumpText } from '../../../src/stats/dump';
import { createRegistry } from '../../../src/stats/registry';

function someRegistry() {
  const registry = createRegistry();
  registry.count('z.hits', 3);
  registry.count('a.hits', 0);
  registry.gauge('m.open', () => 1.5);
  registry.time('took', 1, 98);
  registry.time('took', 50, 2);
  return registry;
}

describe('dumpText', () => {
  it('shows every statistic on a line of its own, in the order of the names', () => {
    expect(dumpText(someRegistry()).split('\n')).toEqual([
      'a.hits: 0',
      'm.open: 1.5',
      'ratelimit.statistics.overflow: 0',
      'took.count: 100',
      'took.max: 50',
      expect.stringMatching(/^took.p50: (0\.99|1\.00)/),
      expect.stringMatching(/^took.p90: (0\.99|1\.00)/),
      expect.stringMatching(/^took.p99: (49|50)/),
      'z.hits: 3',
    ]);
  });

  it('shows that nothing was counted', () => {
    expect(dumpText(createRegistry())).toBe('ratelimit.statistics.overflow: 0');
  });
});

describe('dumpJson', () => {
  it('gives the same as a value', () => {
    const dump = dumpJson(someRegistry());
    expect(dump).toMatchObject({
      counters: { 'a.hits': 0, 'ratelimit.statistics.overflow': 0, 'z.hits': 3 },
      gauges: { 'm.open': 1.5 },
      timers: { took: { count: 100, max: 50 } },
    });
    expect(Object.keys(dump.counters)).toEqual([
      'a.hits',
      'ratelimit.statistics.overflow',
      'z.hits',
    ]);
    expect(JSON.parse(JSON.stringify(dump))).toEqual(dump);
  });

  it('never shows a quantile above the maximum', () => {
    const registry = createRegistry();
    registry.time('took', 1, 1);
    const { took } = dumpJson(registry).timers;
    expect(took?.p99).toBeLessThanOrEqual(1);
  });
});
