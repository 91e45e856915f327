import {
  believedBlocks,
  blockEndMs,
  isBlocked,
  msOfBlocks,
  NO_BLOCK,
  strike,
} from '../../../../src/core/budgets/block';
import type { BlockState } from '../../../../src/core/kinds/state';
import { blockFor, limiterOfLimits, standing } from '../../../support/budget-limiters';

const terms = { after: 2, withinMs: 1_000, forMs: 5_000, upToMs: 15_000, entry: -1 };

/** What refusals at these milliseconds leave. */
function struckAt(times: readonly number[], more: Partial<typeof terms> = {}): BlockState {
  return times.reduce((state, ms) => strike({ ...terms, ...more }, state, ms), NO_BLOCK);
}

it.each([
  ['within the span begin a block', [100, 1_099], true],
  ['as the span ends begin a new span', [100, 1_100], false],
  ['of two spans begin none', [100, 1_200], false],
  ['begin a block in the second span', [100, 1_200, 1_300], true],
])('refusals %s', (_, times, isBegun) => {
  const last = times.at(-1) ?? 0;
  expect(isBlocked(struckAt(times), last)).toBe(isBegun);
});

it('lasts until its end, and not at it', () => {
  const block = struckAt([100, 200]);
  expect([isBlocked(block, 5_199), isBlocked(block, 5_200)]).toEqual([true, false]);
});

it.each([
  ['twice as long as the one before', [5_200, 10_199], 10_000],
  ['as long as the first once it was quiet for as long as that took', [5_200, 10_200], 5_000],
])('is %s', (_, [end = 0, next = 0], lasts) => {
  const block = struckAt([100, 200]);
  expect(block.untilMs).toBe(end);
  const again = strike({ ...terms, after: 1 }, block, next);
  expect(again).toMatchObject({ untilMs: next + lasts, tookMs: lasts, quietMs: next + lasts });
});

it('is never longer than its bound, nor shorter than its terms', () => {
  const once = { ...terms, after: 1 };
  const third = strike(once, strike(once, struckAt([0], { after: 1 }), 5_000), 15_000);
  expect(third.tookMs).toBe(15_000);
  expect(strike({ ...once, forMs: 60_000 }, third, 30_000).tookMs).toBe(60_000);
});

it('says something until its span ends, or until the next block would be the first again', () => {
  expect([blockEndMs(NO_BLOCK), blockEndMs(struckAt([100]))]).toEqual([0, 1_100]);
  expect(blockEndMs(struckAt([100, 200]))).toBe(5_200 + 5_000);
});

it('refuses for as long as the longest of several', () => {
  const { budget } = limiterOfLimits([{ unit: 'MINUTE', requestsPerUnit: 1 }]);
  const ended = blockFor(-5);
  const msOf = (...blocks: readonly BlockState[]) => {
    const all = blocks.map(() => terms);
    return msOfBlocks({ ...budget, blocks: all }, standing(budget, [0], { blocks }));
  };
  expect([msOf(), msOf(ended)]).toEqual([0, 0]);
  expect(msOf(blockFor(9), ended, blockFor(20), blockFor(3))).toBe(20_000);
});

describe('a block that a wrong clock has written', () => {
  const wrongMs = 34_560_000_000;
  const believed = (...blocks: readonly BlockState[]) =>
    believedBlocks({ blocks: blocks.map(() => terms) }, blocks, 1_000);

  it('lasts from now for as long as a block may, and so does its span', () => {
    const [block] = believed({ ...struckAt([wrongMs, wrongMs + 1]), spanEndMs: wrongMs });
    expect(block).toEqual({
      ...{ strikes: 0, tookMs: 5_000 },
      ...{ untilMs: 16_000, spanEndMs: 2_000, quietMs: 16_000 },
    });
    expect(believed(struckAt([wrongMs]))[0]).toMatchObject({ strikes: 1, spanEndMs: 2_000 });
  });

  it('changes no other block', () => {
    const right = struckAt([900, 950]);
    expect(believed(right, struckAt([wrongMs]))[0]).toBe(right);
  });

  it('is believed with some seconds to spare', () => {
    const blocks = [struckAt([15_900, 16_000])];
    expect(believedBlocks({ blocks: [terms] }, blocks, 1_000)).toBe(blocks);
  });
});
