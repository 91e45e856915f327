import fc from 'fast-check';
import { createRegistry } from '../../../src/stats/registry';
import { readCounters } from '../../support/read-counters';

describe('createRegistry', () => {
  it('adds up exactly what each counter was given', () => {
    const names = fc.constantFrom('a', 'b', '__proto__', 'constructor');
    const additions = fc.array(fc.tuple(names, fc.integer({ min: 0, max: 2 ** 40 })));
    fc.assert(
      fc.property(additions, (list) => {
        const registry = createRegistry();
        const expected = new Map<string, number>();
        for (const [name, by] of list) {
          registry.count(name, by);
          expected.set(name, (expected.get(name) ?? 0) + by);
        }
        const totals = [...readCounters(registry)]
          .filter(([name]) => name !== 'ratelimit.statistics.overflow')
          .map(([name, { value }]) => [name, value] as const);
        expect(new Map(totals)).toEqual(expected);
      }),
    );
  });

  it('counts exactly up to 2^53', () => {
    const registry = createRegistry();
    registry.count('hits', 2 ** 53 - 2);
    registry.count('hits', 1);
    expect(registry.counter('hits').value).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('hands out one counter for one name', () => {
    const registry = createRegistry();
    registry.counter('hits').add(2);
    registry.count('hits', 3);
    expect(registry.counter('hits').value).toBe(5);
  });

  it('visits all that counts in the order of its creation, with a step after at most some hundred', () => {
    const registry = createRegistry();
    registry.count('hits', 1);
    const paths = Array.from({ length: 1_000 }, (_, i) => `shop.${String(i)}`);
    for (const path of paths) registry.rules.of(path);
    registry.unmatched.of('shop').add(2);
    const visits = [...registry.readSeries()];
    const visited = visits.flatMap((series) =>
      series ? [`${series.group.id} ${series.path}`] : [],
    );
    expect(visited).toEqual([
      'counters ratelimit.statistics.overflow',
      'counters hits',
      ...paths.map((path) => `rules ${path}`),
      'unmatched shop',
    ]);
    const steps = visits.flatMap((series, at) => (series === undefined ? [at] : []));
    const lengths = steps.map((at, i) => at - (steps[i - 1] ?? 0));
    expect(Math.max(...lengths)).toBeLessThan(300);
    expect(steps.length).toBeGreaterThan(3);
  });

  it('records how often a duration occurred', () => {
    const registry = createRegistry();
    registry.time('took', 2, 40);
    registry.time('took', 3, 2);
    expect(registry.timers.get('took')).toMatchObject({ count: 42, sumMilliseconds: 86 });
  });

  it('reads gauges when asked, and no longer once they are removed', () => {
    const registry = createRegistry();
    let open = 1;
    const remove = registry.gauge('open', () => open);
    open = 7;
    expect([...registry.readGauges()]).toEqual([['open', 7]]);
    remove();
    remove();
    expect(registry.readGauges().size).toBe(0);
  });

  it('sums gauges of one name and removes each for itself', () => {
    const registry = createRegistry();
    const read = () => 2;
    const removeFirst = registry.gauge('open', read);
    registry.gauge('open', read);
    registry.gauge('open', () => 3);
    expect(registry.readGauges().get('open')).toBe(7);
    removeFirst();
    expect(registry.readGauges().get('open')).toBe(5);
  });

  it('shows the worst of breakers and clocks of one name, as an owner of workers has its own beside theirs', () => {
    const registry = createRegistry();
    for (const name of ['pool.breaker_state', 'pool.clock_difference_seconds'])
      for (const value of [2, 1]) registry.gauge(name, () => value);
    expect([...registry.readGauges().values()]).toEqual([2, 2]);
  });

  it.each([
    ['fails', () => JSON.parse('{') as number],
    ['is not a number', () => NaN],
    ['is endless', () => Infinity],
  ])('leaves out a gauge that %s, and only that', (_, read) => {
    const registry = createRegistry();
    registry.gauge('bad', read);
    registry.gauge('good', () => 1);
    expect([...registry.readGauges()]).toEqual([['good', 1]]);
  });
});
