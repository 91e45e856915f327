import fc from 'fast-check';
import type { CounterBatch } from '../../../src/core/ports';
import { splitBatch } from '../../../src/counters/redis/apply-batch';
import { SOME_MATCH } from '../../support/rules';
import { plain } from '../../support/limiters';

function batchOf(size: number, groupEnds?: readonly number[]): CounterBatch {
  const increments = Array.from({ length: size }, (_, at) => ({
    key: String(at),
    hits: 1,
    ...plain(1),
    ttlSeconds: 1,
    windowEndSeconds: 1,
    ...SOME_MATCH,
  }));
  return { increments, groupEnds, nowSeconds: 5 };
}

const sizes = (parts: readonly CounterBatch[]) => parts.map(({ increments }) => increments.length);

describe('splitting a batch', () => {
  it.each([
    [0, []],
    [3, [3]],
    [4, [3, 1]],
    [6, [3, 3]],
    [8, [3, 3, 2]],
  ])('of %i makes parts of at most three', (size, expected) => {
    expect(sizes(splitBatch(batchOf(size), 3))).toEqual(expected);
  });

  it.each([
    ['that fit', [2, 4], [2, 2]],
    ['that are alone too large', [1, 6, 7], [1, 5, 1]],
    ['of nothing', [0, 0, 2, 2, 4, 4], [2, 2]],
    ['as single ones', [1, 2, 3, 4], [3, 1]],
  ])('keeps runs %s together', (_, groupEnds, expected) => {
    expect(sizes(splitBatch(batchOf(groupEnds.at(-1) ?? 0, groupEnds), 3))).toEqual(expected);
  });

  it('keeps every increment and every run that has one, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 6 })), fc.integer({ min: 1, max: 8 }), (lengths, size) => {
        let end = 0;
        const groupEnds = lengths.map((length) => (end += length));
        const parts = splitBatch(batchOf(end, groupEnds), size);
        let start = 0;
        const ends = parts.flatMap((part) => {
          const own = (part.groupEnds ?? []).map((at) => at + start);
          start += part.increments.length;
          return own;
        });
        expect(new Set(ends.filter((at) => at > 0))).toEqual(
          new Set(groupEnds.filter((at) => at > 0)),
        );
        const keys = parts.flatMap(({ increments }) => increments.map(({ key }) => Number(key)));
        expect(keys).toEqual(Array.from({ length: end }, (_, at) => at));
        const longest = Math.max(size, ...lengths);
        for (const each of sizes(parts)) expect(each).toBeLessThanOrEqual(longest);
      }),
    );
  });
});
