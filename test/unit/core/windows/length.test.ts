import type { Unit } from '../../../../src/core/units';
import { toUnitCount, windowOfLength, windowSeconds } from '../../../../src/core/windows/length';

describe('a window of several units', () => {
  it.each([
    [1_700_000_125, 'MINUTE', 5, 1_700_000_100, 275],
    [1_700_000_125, 'SECOND', 30, 1_700_000_100, 5],
    [1_700_000_125, 'SECOND', 60, 1_700_000_100, 35],
    [1_700_000_125, 'HOUR', 2, 1_699_999_200, 6_275],
    [1_700_000_125, 'DAY', 7, 1_699_488_000, 92_675],
    [1_700_000_125, 'WEEK', 2, 1_699_488_000, 697_475],
    [1_700_000_125, 'DAY', 30, 1_697_760_000, 351_875],
    [1_700_000_125, 'MONTH', 4, 1_689_984_000, 351_875],
    [1_700_000_100, 'MINUTE', 5, 1_700_000_100, 300],
    [1_700_000_399, 'MINUTE', 5, 1_700_000_100, 1],
  ] as const)('at %d of %s times %d starts at %d', (now, unit, multiplier, start, reset) => {
    const span = windowOfLength(windowSeconds(unit, multiplier), now);
    expect(span.startSeconds).toBe(start);
    expect(span.endSeconds - now).toBe(reset);
    expect(span.keyEnd).toBe(`_${String(start)}`);
  });

  it.each([
    ['SECOND', 30, 'SECOND', 30],
    ['SECOND', 60, 'MINUTE', 1],
    ['MINUTE', 5, 'MINUTE', 5],
    ['SECOND', 90, 'SECOND', 90],
    ['DAY', 7, 'WEEK', 1],
    ['DAY', 30, 'MONTH', 1],
    ['DAY', 365, 'YEAR', 1],
    ['MONTH', 4, 'MONTH', 4],
  ] as const)('%s times %d is %s times %d', (unit: Unit, multiplier, found, count) => {
    expect(toUnitCount(windowSeconds(unit, multiplier))).toEqual({ unit: found, count });
  });
});
