import { createNanoClock } from '../../src/platform/logger';

it('the clock of log lines tells the time of day and never goes back', () => {
  const now = createNanoClock();
  const before = BigInt(Date.now()) * 1_000_000n;
  const times = Array.from({ length: 1000 }, now);
  const after = BigInt(Date.now()) * 1_000_000n;
  expect(times.every((time, i) => i === 0 || time >= (times[i - 1] as bigint))).toBe(true);
  expect(times[0]).toBeGreaterThan(before - 5_000_000n);
  expect(times.at(-1)).toBeLessThan(after + 5_000_000n);
});
