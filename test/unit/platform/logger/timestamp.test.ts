import { createNanoClock, toTimestamp } from '../../../../src/platform/logger/timestamp';

describe('toTimestamp', () => {
  it.each([
    [0n, '1970-01-01T00:00:00.000000000Z'],
    [1n, '1970-01-01T00:00:00.000000001Z'],
    [1_600_000_000_123_456_789n, '2020-09-13T12:26:40.123456789Z'],
  ])('writes %d with nine digits of a second', (nanoseconds, expected) => {
    expect(toTimestamp(nanoseconds)).toBe(expected);
  });
});

describe('createNanoClock', () => {
  it('tells the time of day and never goes back', () => {
    const now = createNanoClock();
    const before = BigInt(Date.now()) * 1_000_000n;
    const times = Array.from({ length: 1000 }, now);
    const after = BigInt(Date.now()) * 1_000_000n;
    expect(times.every((time, i) => i === 0 || time >= (times[i - 1] as bigint))).toBe(true);
    expect(times[0]).toBeGreaterThan(before - 5_000_000n);
    expect(times.at(-1)).toBeLessThan(after + 5_000_000n);
  });
});
