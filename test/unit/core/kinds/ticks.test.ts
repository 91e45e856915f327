import { millisOfTicks, secondsOfTicks, tickAt, ticksOf } from '../../../../src/core/kinds/ticks';

const DAY = 86_400;

describe('the ticks of a period', () => {
  it.each([
    [1, 1, 1_000_000],
    [30, 1, 30_000_000],
    [60, 1, 60_000_000],
    [90, 1, 90_000_000],
    [91, 10, 9_100_000],
    [300, 10, 30_000_000],
    [3_600, 100, 36_000_000],
    [DAY, 1_000, 86_400_000],
    [7 * DAY, 10_000, 60_480_000],
    [30 * DAY, 100_000, 25_920_000],
    [365 * DAY, 1_000_000, 31_536_000],
    [90_000_000, 1_000_000, 90_000_000],
  ])('of %d s are %d µs long, and %d of them', (seconds, tickMicros, periodTicks) => {
    expect(ticksOf(seconds)).toEqual({ tickMicros, periodTicks });
  });

  it('begin at whole ticks of the milliseconds of the clock', () => {
    expect(tickAt(1_700_000_040.1239, 1)).toBe(1_700_000_040_124_000);
    expect(tickAt(1_700_000_040.999, 1_000_000)).toBe(1_700_000_040);
  });

  it('are rounded up to seconds and to milliseconds', () => {
    expect([1, 1_000_000, 1_000_001].map((ticks) => secondsOfTicks(ticks, 1))).toEqual([1, 1, 2]);
    expect([0, 1, 999, 1_001].map((ticks) => millisOfTicks(ticks, 1))).toEqual([0, 1, 1, 2]);
    expect(millisOfTicks(7, 100_000)).toBe(700);
  });
});
