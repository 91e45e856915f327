import { slidingLog } from '../../../../src/core/kinds/sliding-log';
import type { CounterState, Limiter } from '../../../../src/core/kinds/kind';
import { limiterOf } from '../../../support/limiters';

/** Ten a period of ten seconds, in ticks of one microsecond. */
const limiter: Limiter<CounterState> = limiterOf({
  name: 'sliding_window',
  limit: 10,
  periodSeconds: 10,
});
const SECOND = 1_000_000;
const WINDOW = 179_524_020;
const NOW = (WINDOW * 10 + 4) * SECOND;

it('is the sliding window of a rule', () => {
  expect(slidingLog.words.ofLimiter(limiter)).toEqual(['sliding window']);
});

describe('a window that 1.0.0-rc.1 counted', () => {
  const inherit = (value: string, nowTick = NOW) =>
    slidingLog.heirOf.decode(limiter, value, nowTick)?.ages;

  it('has hits at the latest moments that they can be of', () => {
    expect(inherit(`${String(WINDOW)} 2 3`)).toEqual([4, 4, 0, 0, 0].map((s) => s * SECOND));
    expect(inherit(`${String(WINDOW - 1)} 2 1`)).toEqual([4 * SECOND]);
    expect(inherit(`${String(WINDOW - 2)} 5 5`)).toEqual([]);
  });

  it('has no more hits than a log remembers', () => {
    expect(inherit(`${String(WINDOW)} 400 500`)).toHaveLength(64);
  });

  it.each(['', '7', '1 2', '1 2 3 4', 'a b c'])('is not %j', (value) => {
    expect(inherit(value)).toBeUndefined();
  });
});
