import { createNanoClock, toTimestamp } from '../../../../src/platform/logger';

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
  describe('with clocks of a test', () => {
    /** Passes between the next look at the monotonic clock and the one at the time of day. */
    let interruptMs: number;
    beforeEach(() => {
      interruptMs = 0;
      jest.useFakeTimers({ now: 1_600_000_000_000 });
      jest.spyOn(Date, 'now').mockImplementation(() => {
        jest.advanceTimersByTime(interruptMs);
        interruptMs = 0;
        return jest.now();
      });
    });
    afterEach(() => {
      jest.restoreAllMocks();
      jest.useRealTimers();
    });

    const toMs = (nanoseconds: bigint) => Number(nanoseconds / 1_000_000n);

    it('does not jump when it was interrupted between its looks at them', () => {
      interruptMs = 40;
      const now = createNanoClock();
      expect(toMs(now())).toBe(jest.now());
      const before = jest.now();
      interruptMs = 500;
      expect(toMs(now())).toBe(before);
      expect(toMs(now())).toBe(before + 500);
    });

    it('follows a time of day that is set', () => {
      const now = createNanoClock();
      jest.setSystemTime(jest.now() + 3_600_000);
      expect(toMs(now())).toBe(jest.now());
      jest.setSystemTime(jest.now() - 7_200_000);
      expect(toMs(now())).toBe(jest.now());
    });
  });
});
