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

  describe('with clocks of a test', () => {
    let monotonicMs: number;
    let wallMs: number;
    /** Passes between the next look at the monotonic clock and the one at the time of day. */
    let interruptMs: number;
    beforeEach(() => {
      monotonicMs = 5_000;
      wallMs = 1_600_000_000_000;
      interruptMs = 0;
      jest.spyOn(process.hrtime, 'bigint').mockImplementation(() => {
        const now = BigInt(monotonicMs) * 1_000_000n;
        pass(interruptMs);
        interruptMs = 0;
        return now;
      });
      jest.spyOn(Date, 'now').mockImplementation(() => wallMs);
    });
    afterEach(() => {
      jest.restoreAllMocks();
    });

    const pass = (milliseconds: number) => {
      monotonicMs += milliseconds;
      wallMs += milliseconds;
    };
    const toMs = (nanoseconds: bigint) => Number(nanoseconds / 1_000_000n);

    it('does not jump when it was interrupted between its looks at them', () => {
      interruptMs = 40;
      const now = createNanoClock();
      expect(toMs(now())).toBe(wallMs);
      const before = wallMs;
      interruptMs = 500;
      expect(toMs(now())).toBe(before);
      expect(toMs(now())).toBe(before + 500);
    });

    it('follows a time of day that is set', () => {
      const now = createNanoClock();
      wallMs += 3_600_000;
      expect(toMs(now())).toBe(wallMs);
      wallMs -= 7_200_000;
      expect(toMs(now())).toBe(wallMs);
    });
  });
});
