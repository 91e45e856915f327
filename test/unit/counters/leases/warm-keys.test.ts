import fc from 'fast-check';
import { WarmKeys } from '../../../../src/counters/leases/leases';

const KEY = 'edge_user_ann_1795240200';

it.each([
  { leastHits: 20, warmAt: 20 },
  { leastHits: 1, warmAt: 1 },
  { leastHits: 255, warmAt: 255 },
  // A cell is a byte: how many more make a lease worth it, the rate of the counter says.
  { leastHits: 10_000, warmAt: 255 },
])('of LEASE_MIN_RATE $leastHits, hit $warmAt of a second is the first that is warm', (one) => {
  const keys = new WarmKeys(one.leastHits);
  const warm: boolean[] = [];
  for (let hit = 1; hit <= one.warmAt + 300; hit += 1) warm.push(keys.note(KEY, 1, 500));
  expect(warm.indexOf(true)).toBe(one.warmAt - 1);
  expect(warm.lastIndexOf(false)).toBe(one.warmAt - 2);
});

it('takes an ask of many hits for what it is', () => {
  expect(new WarmKeys(255).note(KEY, 2 ** 40, 0)).toBe(true);
  expect(new WarmKeys(20).note(KEY, 20, 0)).toBe(true);
  expect(new WarmKeys(20).note(KEY, 19, 0)).toBe(false);
});

it('forgets a second after the next has ended', () => {
  const keys = new WarmKeys(20);
  expect(keys.note(KEY, 100, 0)).toBe(true);
  expect(keys.note(KEY, 1, 1_000)).toBe(true);
  expect(keys.note(KEY, 1, 1_999)).toBe(false);
  expect(keys.note(KEY, 100, 5_000)).toBe(true);
  expect(keys.note(KEY, 1, 8_000)).toBe(false);
});

it('finds a key warm that is asked for often enough for as long as it is, and none of half the rate', () => {
  const gapMs = fc.integer({ min: 8, max: 100 });
  fc.assert(
    fc.property(gapMs, fc.boolean(), (gap, isWarm) => {
      const perSecond = Math.floor(1_000 / gap);
      const leastHits = isWarm ? perSecond : 2 * perSecond + 2;
      const keys = new WarmKeys(leastHits);
      for (let hit = 1; hit <= 4 * perSecond; hit += 1)
        expect(keys.note(KEY, 1, hit * gap)).toBe(isWarm && hit >= Math.min(leastHits, 255));
    }),
  );
});

it('takes few of 100,000 keys for warm that are none, though they share cells', () => {
  const keys = new WarmKeys(8);
  let warm = 0;
  for (let at = 0; at < 100_000; at += 1) {
    const key = `edge_user_${String(at)}_1795240200`;
    for (const hits of [1, 1]) if (keys.note(key, hits, 0)) warm += 1;
  }
  expect(warm).toBeLessThan(200);
});
