import { createRefusals } from '../../../../src/config/xds/refusals';

const backoff = { initialMs: 100, maxMs: 200, factor: 1.5, jitter: 0.5 };

describe('refusals', () => {
  it('let the first NACK of a version go at once and hold back the next ones, longer each time', () => {
    const refusals = createRefusals({ backoff, random: () => 0.5 });
    expect([1, 2, 3, 4].map(() => refusals.refuse('v1'))).toEqual([0, 100, 150, 200]);
    expect(refusals.refuse('v2')).toBe(0);
    expect(refusals.refuse('v2')).toBe(100);
  });

  it('spread the waits but never beyond the limit', () => {
    const refusals = createRefusals({ backoff, random: () => 0.999 });
    const waits = [1, 2, 3, 4].map(() => Math.round(refusals.refuse('v1')));
    expect(waits).toEqual([0, 150, 200, 200]);
  });

  it('know what was refused last, until something is accepted', () => {
    const refusals = createRefusals({ backoff, random: () => 0.5 });
    expect(refusals.isRepeat(() => 'v1')).toBe(false);
    refusals.refuse('v1');
    expect(refusals.isRepeat(() => 'v1')).toBe(true);
    expect(refusals.isRepeat(() => 'v2')).toBe(false);
    refusals.accept();
    expect(refusals.isRepeat(() => 'v1')).toBe(false);
    expect(refusals.refuse('v1')).toBe(0);
  });
});
