import { toKeptKey } from '../../../src/counters/kept-key';

describe('the key that is kept', () => {
  it('is the key up to 256 characters', () => {
    const key = `${'ü'.repeat(245)}_1795240200`;
    expect(toKeptKey(key)).toBe(key);
  });

  it('of a longer one is its digest: equal for equal keys only', () => {
    const of = (user: string): string =>
      toKeptKey(`shop_user_${user}${'x'.repeat(300)}_1795240200`);
    expect(of('ann')).toBe(of('ann'));
    expect(of('ann')).not.toBe(of('bob'));
    expect(of('ann')).toHaveLength(43);
  });
});
