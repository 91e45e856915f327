import fc from 'fast-check';
import { FrequentItems } from '../../../../src/stats/dashboard/hot-keys';

const key = fc.integer({ min: 0, max: 40 }).map(String);
const stream = fc.array(fc.tuple(key, fc.integer({ min: 1, max: 1_000 })), { maxLength: 400 });
const places = fc.integer({ min: 1, max: 16 });

interface Named {
  readonly key: string;
}

function count(size: number, additions: readonly (readonly [string, number])[]) {
  const sketch = new FrequentItems<Named>(size);
  const exact = new Map<string, number>();
  for (const [one, weight] of additions) {
    sketch.add(one, weight, () => ({ key: one }));
    exact.set(one, (exact.get(one) ?? 0) + weight);
  }
  const counted = new Map([...sketch].map(({ item, weight }) => [item.key, weight]));
  return { sketch, exact, counted, total: additions.reduce((sum, [, weight]) => sum + weight, 0) };
}

describe('the sketch of the heaviest items', () => {
  it('is exact while there is room for all', () => {
    fc.assert(
      fc.property(stream, (additions) => {
        const { sketch, exact, counted } = count(64, additions);
        expect(counted).toEqual(exact);
        expect(sketch.error).toBe(0);
      }),
    );
  });

  it('never says too much, and too little by no more than its error', () => {
    fc.assert(
      fc.property(places, stream, (size, additions) => {
        const { sketch, exact, counted } = count(size, additions);
        for (const [one, weight] of exact) {
          const said = counted.get(one) ?? 0;
          expect(said).toBeLessThanOrEqual(weight);
          expect(said).toBeGreaterThanOrEqual(weight - sketch.error);
        }
      }),
    );
  });

  it('has an error of at most twice all weight by places, and never more items than places', () => {
    fc.assert(
      fc.property(places, stream, (size, additions) => {
        const { sketch, counted, total } = count(size, additions);
        expect(sketch.error).toBeLessThanOrEqual((2 * total) / size);
        expect(counted.size).toBeLessThanOrEqual(size);
      }),
    );
  });

  it('finds the few that make most of the traffic among a million others', () => {
    const sketch = new FrequentItems<Named>(512);
    for (let i = 0; i < 1_000_000; i++) {
      const key = `rare-${String(i)}`;
      sketch.add(key, 1, () => ({ key }));
      if (i % 50 === 0) sketch.add('hot', 1, () => ({ key: 'hot' }));
    }
    const [first] = [...sketch].sort((a, b) => b.weight - a.weight);
    expect(first?.item.key).toBe('hot');
    expect(20_000 - (first?.weight ?? 0)).toBeLessThanOrEqual(sketch.error);
    expect(sketch.error).toBeLessThanOrEqual((2 * 1_020_000) / 512);
  });

  it('lets weights and the error fade together, so that the bound holds for what is left', () => {
    const { sketch, counted } = count(2, [
      ['a', 8],
      ['b', 2],
      ['c', 4],
    ]);
    const { error } = sketch;
    expect(error).toBeGreaterThan(0);
    sketch.decay(0.5);
    expect(sketch.error).toBe(error / 2);
    for (const { item, weight } of sketch) expect(weight).toBe((counted.get(item.key) ?? 0) / 2);
    sketch.clear();
    expect([[...sketch], sketch.error]).toEqual([[], 0]);
  });

  it('keeps the item that came first', () => {
    const sketch = new FrequentItems<Named>(4);
    const made = sketch.add('a', 1, () => ({ key: 'a' }));
    expect(sketch.add('a', 1, () => ({ key: 'a' }))).toBe(made);
    expect(sketch.peek('a')).toBe(made);
    expect(sketch.peek('b')).toBeUndefined();
  });
});
