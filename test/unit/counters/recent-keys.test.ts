import { createRecentKeys } from '../../../src/counters/redis/connection';

describe('recent keys', () => {
  it('are remembered until half as many newer ones have come', () => {
    const keys = createRecentKeys({ maxKeys: 4, maxBytes: 1_000_000 });
    for (const key of ['a', 'b', 'c']) keys.add(key);
    expect(['a', 'b', 'c'].map(keys.has)).toEqual([true, true, true]);
    for (const key of ['d', 'e']) keys.add(key);
    expect(['a', 'b', 'c', 'd', 'e'].map(keys.has)).toEqual([false, false, true, true, true]);
  });

  it('are remembered as long as half of the bytes holds the newer ones', () => {
    const keys = createRecentKeys({ maxKeys: 1_000, maxBytes: 800 });
    const long = (name: string): string => name.repeat(70);
    for (const key of ['a', 'b', 'c']) keys.add(long(key));
    expect(['a', 'b', 'c'].map(long).map(keys.has)).toEqual([true, true, true]);
    for (const key of ['d', 'e']) keys.add(long(key));
    expect(['a', 'c', 'd', 'e'].map(long).map(keys.has)).toEqual([false, true, true, true]);
  });

  it('take nothing for a key that is known, and little for a long one', () => {
    const keys = createRecentKeys({ maxKeys: 10, maxBytes: 600 });
    const long = 'k'.repeat(60_000);
    for (let time = 0; time < 20; time += 1) keys.add(long);
    keys.add('other');
    expect([keys.has(long), keys.has('other'), keys.has(`${long}k`)]).toEqual([true, true, false]);
  });
});
