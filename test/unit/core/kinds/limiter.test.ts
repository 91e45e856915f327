import {
  burstOf,
  freeHits,
  isUnused,
  lifetimeMs,
  unused,
  usedHits,
} from '../../../../src/core/kinds/limiter';
import type { Charges } from '../../../../src/core/kinds/kind';
import { plainLimiter } from '../../../../src/core/kinds/kinds';
import {
  countAdmitted,
  heldOutcomeOf,
  isAnyRefused,
  outcomeOf,
} from '../../../../src/core/kinds/whole';
import { limiterOf, type StateLimiter } from '../../../support/limiters';

const NOW = 1_700_000_040;
/** 10 hits a minute, 15 at once, of which `used` are in use. */
const bucket = limiterOf({ name: 'gcra', limit: 10, burst: 15, periodSeconds: 60 });
const charging = limiterOf({
  name: 'gcra',
  limit: 10,
  burst: 15,
  periodSeconds: 60,
  chargeDenied: true,
});
const asked = (limiter: StateLimiter, charges: Charges) => ({
  ...charges,
  limiter,
  windowEndSeconds: 0,
});
const after = (used: number) => bucket.kind.take(bucket, unused(bucket, NOW), used);

it('sees all hits that a plain window was asked for, refused ones too, and none of kinds that look', () => {
  const window = plainLimiter(10);
  expect(window.kind.hitsCharged(window.kind.take(window, 8, 5))).toBe(13);
  expect(bucket.kind.hitsCharged(after(20))).toBeUndefined();
  const refused = [10, 11].map((seen) =>
    window.kind.isAnyRefused({ ...asked(bucket, { hits: 1, times: 1 }), limiter: window }, seen),
  );
  expect(refused).toEqual([false, true]);
});

describe('a token bucket', () => {
  it.each([
    [0, 15, 0],
    [4, 11, 4],
    [15, 0, 15],
    [20, 0, 20],
  ])('with %p hits in use has room for %p and says %p', (used, free, said) => {
    expect([freeHits(bucket, after(used)), usedHits(bucket, after(used))]).toEqual([free, said]);
  });

  it('says a part of a hit as one in use, and as no room', () => {
    const { used, ...rest } = after(4);
    const more = { ...rest, used: used + 1 };
    expect([freeHits(bucket, more), usedHits(bucket, more)]).toEqual([10, 5]);
  });

  it.each([
    [10, 5, false],
    [10, 6, true],
    [15, 0, false],
    [16, 0, true],
    [16, -1, false],
    [17, -1, true],
    [0, 16, true],
  ])('with %p in use refuses %p more: %p', (used, hits, isRefused) => {
    expect(bucket.kind.refuses(asked(bucket, { hits, times: 1 }), after(used))).toBe(isRefused);
  });

  it.each([
    ['a look', 3, { hits: 0, times: 1 }, undefined],
    ['asks that fit', 3, { hits: 2, times: 3 }, 9],
    ['asks of which the first ones fit', 10, { hits: 2, times: 4 }, 14],
    ['asks of which none fits', 14, { hits: 2, times: 3 }, undefined],
    ['hits that are given back', 5, { hits: -2, times: 1 }, 3],
    ['more hits back than there are', 5, { hits: -9, times: 1 }, 0],
  ])('writes after %s', (_, used, asks, expected) => {
    const written = bucket.kind.commit(asked(bucket, asks), after(used));
    expect(written && usedHits(bucket, written)).toBe(expected);
  });

  it('charges what it refuses where the rule says so', () => {
    const written = charging.kind.commit(asked(charging, { hits: 2, times: 1 }), after(14));
    expect(written && usedHits(charging, written)).toBe(16);
  });

  it.each([
    ['all fit', 5, { hits: 5, times: 2 }, false],
    ['the last does not fit', 6, { hits: 5, times: 2 }, true],
    ['they look', 20, { hits: 0, times: 1 }, false],
    ['they give back', 20, { hits: -1, times: 1 }, false],
    ['one can never fit', 0, { hits: 16, times: 1 }, true],
  ])('knows whether any of some asks is refused: %s', (_, used, asks, isRefused) => {
    const asked = { limiter: bucket, windowEndSeconds: NOW + 60, ...asks };
    expect(isAnyRefused(asked, after(used))).toBe(isRefused);
  });

  it('counts as over what was held back of a counter that is over, and nothing else', () => {
    const asked = { limiter: bucket, hits: 3, times: 1, windowEndSeconds: NOW + 60 };
    expect(heldOutcomeOf(asked, after(16), 3)).toMatchObject({ isOver: true, over: 3 });
    expect(heldOutcomeOf(asked, after(16), -3)).toMatchObject({ isOver: true, over: 0 });
    expect(heldOutcomeOf(asked, after(15), 3)).toMatchObject({ isOver: false, over: 0 });
  });

  it('says how many hits are in use', () => {
    const asks = { hits: 3, times: 1 };
    expect(outcomeOf(bucket, after(4), asks, 1)).toMatchObject({ used: 7, remaining: 8, over: 0 });
    expect(outcomeOf(bucket, after(13), asks, 1)).toMatchObject({ remaining: 0, over: 3 });
  });

  it('admits no ask that takes nothing', () => {
    const admitted = [0, -2].map((hits) => countAdmitted(bucket, after(4), { hits, times: 3 }));
    expect(admitted).toEqual([0, 0]);
  });

  it('refuses what never fits for a second at least', () => {
    const never = { hits: 16, times: 1 };
    expect(outcomeOf(bucket, after(0), never, 1)).toMatchObject({ isOver: true, resetSeconds: 1 });
  });

  it('says in words what a rule of it is', () => {
    expect(bucket.kind.words.ofLimiter(bucket)).toEqual(['bursts of 15']);
    expect(charging.kind.words.ofLimiter(charging)).toEqual([
      'bursts of 15',
      'refused hits are charged',
    ]);
  });

  it('is kept for a second longer than it holds anything', () => {
    expect(lifetimeMs(bucket, after(10))).toBe(61_000);
    expect(burstOf(bucket)).toBe(15);
    expect(burstOf(plainLimiter(5))).toBeUndefined();
  });

  it('is forgotten once it holds nothing, in this window and the one before', () => {
    expect(isUnused({ used: 0, previous: 0, elapsed: 3 })).toBe(true);
    expect(isUnused({ used: 1, previous: 0, elapsed: 3 })).toBe(false);
    expect(isUnused({ used: 0, previous: 1, elapsed: 3 })).toBe(false);
  });
});
