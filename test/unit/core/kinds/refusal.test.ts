import { all, refusedUntil, stateRefusing } from '../../../../src/core/kinds/refusal';
import { unused, usedHits } from '../../../../src/core/kinds/limiter';
import type { Operation, CounterState } from '../../../../src/core/kinds/kind';
import { plainLimiter } from '../../../../src/core/kinds/kinds';
import { limiterOf, type StateLimiter } from '../../../support/limiters';

const NOW = 1_700_000_040;
/** 10 hits a minute, one in 6 s, of which 15 fit at once. */
const bucketOf = (chargeDenied: boolean) =>
  limiterOf({ name: 'gcra', limit: 10, burst: 15, periodSeconds: 60, chargeDenied });
const bucket = bucketOf(false);
const charging = bucketOf(true);
const guarded = limiterOf({
  name: 'fixed_window',
  limit: 10,
  chargeDenied: false,
  periodSeconds: 60,
});
const counted = plainLimiter(10);

const inUse = (hits: number, limiter: StateLimiter = bucket): CounterState =>
  limiter.kind.take(limiter, unused(limiter, NOW), hits);
const asksFor = (hits: number, times = 1, limiter: StateLimiter = bucket): Operation => ({
  ...{ limiter, hits, times },
  windowEndSeconds: NOW + 30,
});
const countFor = (hits: number): Operation => ({ ...asksFor(hits), limiter: counted });

describe('what a store says of an ask tells of a refusal', () => {
  it.each([
    ['asks that all fit', 10, asksFor(2, 2), 'none'],
    ['an ask that does not fit', 14, asksFor(2), 14],
    ['asks of which the first ones fit, by where they leave the counter', 10, asksFor(2, 4), 14],
  ] as const)('by %s', (_, used, operation, expected) => {
    const refusal = bucket.kind.refusal(operation, inUse(used), false);
    expect(refusal === 'none' ? 'none' : refusal && usedHits(bucket, refusal)).toBe(expected);
  });

  it.each([
    ['one that was held back', asksFor(2), true],
    ['a look', asksFor(0), false],
    ['hits that are given back', asksFor(-1), false],
    ['one whose rule charges what it refuses', asksFor(2, 1, charging), false],
  ])('nothing by %s', (_, operation, isHeld) => {
    expect(bucket.kind.refusal(operation, inUse(14), isHeld)).toBeUndefined();
  });
});

it.each([
  ['hits', asksFor(1), true],
  ['hits that are given back', asksFor(-1), true],
  ['a look', asksFor(0), false],
  ['hits whose rule charges what it refuses', asksFor(1, 1, charging), false],
])(
  'knows whether what is known of a refusal answers %s in place of the store',
  (_, operation, isRecalled) => {
    expect(operation.limiter.kind.isRecalled(operation)).toBe(isRecalled);
  },
);

describe('a counter that has refused', () => {
  const known = { state: inUse(15), atSeconds: NOW, endSeconds: NOW + 6 };

  it.each([
    [0, 15 * bucket.periodTicks],
    [3, 14.5 * bucket.periodTicks],
  ])('refuses an ask after %p s as well, at %p units', (after, used) => {
    expect(stateRefusing(known, asksFor(1), NOW + after)).toMatchObject({ used });
  });

  it.each([
    ['of an ask that fits by now', asksFor(1), 6],
    ['of asks of which one fits by now', asksFor(1, 3), 6],
    ['once the clock went back', asksFor(1), -1],
  ])('is not known to refuse any %s', (_, operation, after) => {
    expect(stateRefusing(known, operation, NOW + after)).toBeUndefined();
  });

  it.each([
    ['one hit', asksFor(1), NOW + 7],
    ['the first of several asks', asksFor(1, 5), NOW + 7],
    ['two hits', asksFor(2), NOW + 13],
    ['a window that ends', asksFor(1, 1, guarded), NOW + 30],
    ['a count', countFor(1), NOW + 30],
  ])('refuses %s until it fits', (_, operation, until) => {
    const seen = operation.limiter === counted ? 11 : inUse(15, operation.limiter as StateLimiter);
    expect(refusedUntil(operation, seen, NOW + 0.5)).toBe(until);
  });
});

describe('hits given back take a counter from refusing', () => {
  it.each([
    [13, false],
    [14, false],
    [14.5, true],
    [15, true],
  ])('a bucket with %p hits in use: %p', (used, isTakenBack) => {
    const state = { used: used * bucket.periodTicks, previous: 0, elapsed: 0 };
    expect(bucket.kind.isTakenBack(asksFor(-1), state)).toBe(isTakenBack);
  });

  it.each([
    [9, false],
    [10, true],
    [11, false],
  ])('a count to %p: %p', (after, isTakenBack) => {
    expect(counted.kind.isTakenBack(countFor(-1), after)).toBe(isTakenBack);
  });
});

describe('a run', () => {
  it('is held back by each of its counters that refuses', () => {
    const run = [asksFor(1), countFor(1), asksFor(2)];
    expect(all(run, [inUse(3), 10, inUse(14)])).toEqual([false, true, true]);
  });

  it('is not held back where none refuses', () => {
    expect(all([asksFor(1), countFor(1)], [inUse(14), 9])).toBeUndefined();
  });

  it('is not held back by what cannot be seen', () => {
    expect(all([asksFor(1), countFor(1)], [undefined, undefined])).toBeUndefined();
    expect(all([asksFor(1), countFor(1)], [undefined, 10])).toEqual([false, true]);
  });
});
