import fc from 'fast-check';
import { nearestName } from '../../../src/fields/names';

/** Letters to add, drop or change, by the whole table. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1)
      next.push(
        Math.min(
          (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1),
          (row[j + 1] ?? 0) + 1,
          (next[j] ?? 0) + 1,
        ),
      );
    row = next;
  }
  return row[to.length] ?? 0;
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 3, maxLength: 9 });

it('is the first of the nearest, at most two letters away', () => {
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 6 }), (misspelled, names) => {
      const distances = names.map((name) => distance(misspelled, name));
      const least = Math.min(...distances, 3);
      const nearest = least < 3 ? names[distances.indexOf(least)] : undefined;
      expect(nearestName(misspelled, names)).toBe(nearest);
    }),
    { numRuns: 2_000 },
  );
});

it.each([
  ['requests-per_unit', ['unit', 'requests_per_unit'], 'requests_per_unit'],
  ['requestsperunit', ['unit', 'requests_per-unit'], 'requests_per-unit'],
  ['ab', ['xy', 'ax'], 'ax'],
  ['ab', ['xy'], undefined],
  ['', ['a'], undefined],
])('of %j among %j is %j', (misspelled, names, nearest) => {
  expect(nearestName(misspelled, names)).toBe(nearest);
});
