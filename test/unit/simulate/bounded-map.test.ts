import { BoundedMap } from '../../../src/simulate/bounded-counts';

describe('a bounded map', () => {
  it('keeps the names that come first, and counts how often others come', () => {
    const map = new BoundedMap<{ times: number }>(3 * 210);
    for (const name of ['a', 'b', 'c', 'd', 'a', 'e', 'd']) {
      const value = map.at(name, () => ({ times: 0 }));
      if (value !== undefined) value.times += 1;
    }
    expect(map.values()).toEqual([{ times: 2 }, { times: 1 }, { times: 1 }]);
    expect(map.others).toBe(3);
  });

  it('takes the length of names into account', () => {
    const map = new BoundedMap<string>(3_000);
    const long = 'x'.repeat(1_000);
    expect([map.at(long, () => 'long'), map.at(`${long}y`, () => 'longer')]).toEqual([
      'long',
      undefined,
    ]);
    expect(map.at('short', () => 'short')).toBe('short');
  });
});
