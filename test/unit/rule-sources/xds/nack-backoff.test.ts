import { createNackBackoff } from '../../../../src/rule-sources/xds/protocol';

const backoff = { initialMs: 100, maxMs: 200, factor: 1.5, jitter: 0.5 };

describe('refusals', () => {
  it('let the first NACK of a version go at once and hold back the next ones, longer each time', () => {
    const nackBackoff = createNackBackoff({ backoff, random: () => 0.5 });
    expect([1, 2, 3, 4].map(() => nackBackoff.refuse('v1'))).toEqual([0, 100, 150, 200]);
    expect(nackBackoff.refuse('v2')).toBe(0);
    expect(nackBackoff.refuse('v2')).toBe(100);
  });

  it('spread the waits but never beyond the limit', () => {
    const nackBackoff = createNackBackoff({ backoff, random: () => 0.999 });
    const waits = [1, 2, 3, 4].map(() => Math.round(nackBackoff.refuse('v1')));
    expect(waits).toEqual([0, 150, 200, 200]);
  });

  it('know what was refused last, until something is accepted', () => {
    const nackBackoff = createNackBackoff({ backoff, random: () => 0.5 });
    expect(nackBackoff.isRepeat(() => 'v1')).toBe(false);
    nackBackoff.refuse('v1');
    expect(nackBackoff.isRepeat(() => 'v1')).toBe(true);
    expect(nackBackoff.isRepeat(() => 'v2')).toBe(false);
    nackBackoff.accept();
    expect(nackBackoff.isRepeat(() => 'v1')).toBe(false);
    expect(nackBackoff.refuse('v1')).toBe(0);
  });
});
