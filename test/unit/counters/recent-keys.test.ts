import { createRecentKeys } from '../../../src/counters/redis/recent-keys';

describe('recent keys', () => {
  it('are remembered until half as many newer ones have come', () => {
    const keys = createRecentKeys(4);
    for (const key of ['a', 'b', 'c']) keys.add(key);
    expect(['a', 'b', 'c'].map(keys.has)).toEqual([true, true, true]);
    for (const key of ['d', 'e']) keys.add(key);
    expect(['a', 'b', 'c', 'd', 'e'].map(keys.has)).toEqual([false, false, true, true, true]);
  });
});
