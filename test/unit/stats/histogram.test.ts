import fc from 'fast-check';
import { countOf, Histogram, quantile, samplesSince } from '../../../src/stats/histogram';

const all = (histogram: Histogram) => samplesSince(histogram.counts, undefined);

describe('Histogram', () => {
  it('stands for each duration from a microsecond to a day with less than 0.51 % of error', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 86_400_000, noNaN: true }), (milliseconds) => {
        const histogram = new Histogram();
        histogram.record(milliseconds, 1);
        const [sample] = all(histogram);
        const error = Math.abs((sample?.milliseconds ?? 0) - milliseconds) / milliseconds;
        expect(error).toBeLessThan(0.0051);
      }),
    );
  });

  it.each([0, -1, NaN, 0.0009])('counts %d ms as nothing', (milliseconds) => {
    const histogram = new Histogram();
    histogram.record(milliseconds, 2);
    expect(all(histogram)).toEqual([{ bucket: 0, milliseconds: 0, times: 2 }]);
  });

  it('counts what is longer than its last bucket in that', () => {
    const histogram = new Histogram();
    histogram.record(1e12, 1);
    histogram.record(Infinity, 1);
    expect(all(histogram).map(({ times }) => times)).toEqual([2]);
  });

  it('keeps count, sum and maximum exactly', () => {
    const histogram = new Histogram();
    histogram.record(1.5, 3);
    histogram.record(0.25, 1);
    expect(histogram).toMatchObject({ count: 4, sumMilliseconds: 4.75, maxMilliseconds: 1.5 });
  });

  it('stays as large as it is, whatever it counts', () => {
    const histogram = new Histogram();
    const size = histogram.counts.byteLength;
    for (let i = 0; i < 100_000; i += 1) histogram.record((i * 7_919_777) % 1e9, 1);
    expect(histogram.counts.byteLength).toBe(size);
    expect(size).toBeLessThan(32_000);
  });
});

describe('quantile', () => {
  it('agrees with the sorted list within the width of a bucket', () => {
    const durations = fc.array(fc.double({ min: 0.01, max: 10_000, noNaN: true }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(durations, fc.constantFrom(0.5, 0.9, 0.99, 1), (list, share) => {
        const histogram = new Histogram();
        for (const duration of list) histogram.record(duration, 1);
        const sorted = list.toSorted((a, b) => a - b);
        const exact = sorted[Math.ceil(share * list.length) - 1] as number;
        expect(Math.abs(quantile(all(histogram), share) - exact) / exact).toBeLessThan(0.0051);
      }),
    );
  });

  it('is 0 when there are no samples', () => {
    expect(quantile([], 0.5)).toBe(0);
  });
});

describe('samplesSince', () => {
  it('gives only what came since, from the shortest on', () => {
    const histogram = new Histogram();
    histogram.record(5, 2);
    histogram.record(70, 1);
    const before = histogram.counts.slice();
    histogram.record(5, 3);
    histogram.record(0.1, 1);
    const samples = samplesSince(histogram.counts, before);
    expect(samples.map(({ times }) => times)).toEqual([1, 3]);
    expect(countOf(samples)).toBe(4);
  });
});
