import {
  lengthen,
  retryAfterSeconds,
  type WaitingStatus,
} from '../../../../src/core/decision/policy-headers';

const over = (resetSeconds: number, more: Partial<WaitingStatus> = {}): WaitingStatus => ({
  isOver: true,
  isQuota: false,
  neverFits: false,
  resetSeconds,
  key: 'k',
  ...more,
});
const quota = (resetSeconds: number, more: Partial<WaitingStatus> = {}) =>
  over(resetSeconds, { isQuota: true, ...more });
const large = { neverFits: true };

it.each<[string, readonly WaitingStatus[], number | undefined]>([
  ['one limit', [over(20)], 20],
  ['a limit whose counter ends now', [over(0)], 1],
  ['the longest of the limits, first', [over(50), over(10)], 50],
  ['the longest of the limits, last', [over(10), over(50)], 50],
  ['the shortest of the quotas, first', [quota(10), quota(50)], 10],
  ['the shortest of the quotas, last', [quota(50), quota(10)], 10],
  ['a quota that ends now', [quota(0), quota(50)], 1],
  ['a limit before a shorter quota', [over(50), quota(10)], 50],
  ['a limit before a longer quota', [quota(90), over(50)], 50],
  ['what is not over does not count', [over(50), over(90, { isOver: false })], 50],
  ['an ask that no limit ever admits', [over(50), over(10, large)], undefined],
  ['an ask that one quota never admits', [quota(50), quota(10, large)], 50],
  ['an ask that no quota ever admits', [quota(10, large)], undefined],
  [
    'nothing is over',
    [over(10, { isOver: false }), over(5, { isOver: false, ...large })],
    undefined,
  ],
])('%s', (_, statuses, seconds) => {
  expect(retryAfterSeconds(statuses, 0)).toBe(seconds);
});

it('is lengthened by up to the share in percent, the same for the same key', () => {
  const waits = Array.from({ length: 200 }, (_, n) => lengthen(1_000, `key-${String(n)}`, 50));
  expect(waits).toEqual(
    Array.from({ length: 200 }, (_, n) => lengthen(1_000, `key-${String(n)}`, 50)),
  );
  expect(Math.min(...waits)).toBeLessThan(1_020);
  expect(Math.max(...waits)).toBeGreaterThan(1_480);
  for (const wait of waits) {
    expect(Number.isInteger(wait)).toBe(true);
    expect(wait).toBeGreaterThanOrEqual(1_000);
    expect(wait).toBeLessThan(1_500);
  }
  // Spread evenly: a fifth of the keys in each fifth of the range, give or take.
  for (let fifth = 0; fifth < 5; fifth += 1) {
    const share = waits.filter((wait) => Math.floor((wait - 1_000) / 100) === fifth).length;
    expect(share).toBeGreaterThan(20);
    expect(share).toBeLessThan(60);
  }
  expect(retryAfterSeconds([over(1_000, { key: 'key-0' })], 50)).toBe(waits[0]);
});

it.each([
  [1, 50, 1],
  [1_000, 0, 1_000],
  [2, 100, [2, 3]],
])('%d s with %d percent', (seconds, percent, expected) => {
  const waits = new Set(
    Array.from({ length: 50 }, (_, n) => lengthen(seconds, String(n), percent)),
  );
  expect([...waits].sort()).toEqual(Array.isArray(expected) ? expected : [expected]);
});
