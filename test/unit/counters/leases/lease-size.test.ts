import fc from 'fast-check';
import { grantedOf, isLow, leaseSize } from '../../../../src/counters/leases/hit-lease';

const SIZING = { timeMs: 100, share: 0.5, instances: 4 };
const BUSY = { perSecond: 250, roundTripMs: 1, unspent: 0 };

it.each([
  ['much is left', { remaining: 1_000 }, 25],
  ['the rate asks for it', { remaining: 200 }, 25],
  ['little is left', { remaining: 100 }, 12],
  ['as little as can be leased is left', { remaining: 16 }, 2],
  ['less is left', { remaining: 15 }, 0],
  ['some lies unspent here', { remaining: 100, unspent: 5 }, 7],
  ['its share lies here already', { remaining: 100, unspent: 12 }, 0],
  ['the store is far', { remaining: 10_000, roundTripMs: 150 }, 150],
  ['the store is farther than a second allows', { remaining: 10_000, roundTripMs: 500 }, 250],
])('leases as docs/stores/leases.md says where %s', (_, demand, size) => {
  expect(leaseSize({ ...BUSY, ...demand }, SIZING)).toBe(size);
});

it('never leases more than the share of what remains', () => {
  const demands = fc.record({
    perSecond: fc.nat(100_000),
    roundTripMs: fc.nat(2_000),
    remaining: fc.nat(100_000),
    unspent: fc.nat(1_000),
  });
  fc.assert(
    fc.property(demands, fc.integer({ min: 1, max: 64 }), (demand, instances) => {
      const size = leaseSize(demand, { ...SIZING, instances });
      expect(size === 0 || size >= 2).toBe(true);
      if (size > 0)
        expect((size + demand.unspent) * instances).toBeLessThanOrEqual(demand.remaining * 0.5);
    }),
  );
});

it('is low when the rest would be spent before a refill after the next could come', () => {
  expect(isLow({ ...BUSY, unspent: 0 })).toBe(true);
  expect(isLow({ ...BUSY, unspent: 1 })).toBe(false);
  expect(isLow({ ...BUSY, roundTripMs: 20, unspent: 9 })).toBe(true);
  expect(isLow({ ...BUSY, roundTripMs: 20, unspent: 10 })).toBe(false);
});

it('grants of a refill what the limit still had before it', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(2_000), fc.nat(500), (limit, before, size) => {
      let granted = 0;
      for (let hit = before + 1; hit <= before + size; hit += 1) if (hit <= limit) granted += 1;
      expect(grantedOf(limit, before + size, size)).toBe(granted);
    }),
  );
});
