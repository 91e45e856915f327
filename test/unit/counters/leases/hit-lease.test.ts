import { HitLease } from '../../../../src/counters/leases/hit-lease';
import { increment } from '../../../support/increments';

it('never has more hits left than it says that there are, however many are given back', () => {
  const lease = new HitLease(increment('key', 1, { limit: 10 }));
  lease.refill(5, 5);
  expect([lease.spend(5), lease.unspent, lease.size]).toEqual([5, 0, 5]);
  // Others have taken the rest.
  expect(lease.refill(3, 13)).toBe(0);
  expect([lease.takeBack(4), lease.unspent, lease.size]).toEqual([4, 4, 4]);
  expect([lease.takeBack(4), lease.unspent, lease.size]).toEqual([1, 5, 5]);
});
