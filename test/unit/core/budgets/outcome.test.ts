import fc from 'fast-check';
import type { Budget } from '../../../../src/core/budgets/budget';
import { outcomeOfBudget } from '../../../../src/core/budgets/outcome';
import type { Limiter } from '../../../../src/core/kinds/kind';
import type { EntryState } from '../../../../src/core/kinds/state';
import { blockFor, limiterOfLimits, standing, START } from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';
import { SOME_MATCH } from '../../../support/rules';

const second = { unit: 'SECOND', requestsPerUnit: 3 } as const;
const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const hour = { unit: 'HOUR', requestsPerUnit: 10 } as const;
const sliding = { unit: 'HOUR', requestsPerUnit: 12, algorithm: 'sliding_window' } as const;
const bucket = { unit: 'MINUTE', requestsPerUnit: 60, burst: 20, algorithm: 'gcra' } as const;

type Changes = Parameters<typeof standing>[2];
type Ask = Parameters<typeof outcomeOfBudget>[2];

function outcome(
  budget: Budget,
  used: readonly number[],
  ask: number | Ask,
  changes: Changes = {},
) {
  const wanted = typeof ask === 'number' ? ({ hits: ask, mode: 'charge' } as const) : ask;
  return outcomeOfBudget(budget, standing(budget, used, changes), wanted, START);
}

describe('the limit that answers', () => {
  it.each([
    ['the smallest share left', [minute, bucket], [5, 9], 0],
    ['the smallest share left, wherever it stands', [bucket, minute], [9, 5], 1],
    ['the shorter period of equal shares', [hour, minute], [5, 5], 1],
    ['the shorter period of equal shares, also when it is the first', [minute, hour], [5, 5], 0],
    [
      'the first of equal shares and periods',
      [minute, { ...minute, algorithm: 'gcra' }],
      [5, 5],
      0,
    ],
    ['no hits at all', [minute, { ...hour, requestsPerUnit: 0 }], [5, 0], 1],
  ] as const)('of those that admit has %s', (_, limits, used, entry) => {
    expect(outcome(limiterOfLimits(limits).budget, used, 0).entry).toBe(entry);
  });

  it.each([
    ['the last', [second, minute], [3, 10], 1, 60],
    ['the first', [minute, second], [10, 3], 0, 60],
    ['the first of equals', [minute, { ...minute, requestsPerUnit: 9 }], [10, 9], 0, 60],
    ['the only one that refuses', [hour, second], [0, 3], 1, 1],
  ] as const)('of those that refuse does so for longest, %s', (_, limits, used, entry, wait) => {
    const told = outcome(limiterOfLimits(limits).budget, used, 1);
    expect(told).toMatchObject({ isOver: true, remaining: 0, over: 1, entry, resetSeconds: wait });
    expect(told.used).toBe(used[entry]);
  });
});

it('says of each limit what is left after the ask, what is used and until when', () => {
  const { budget } = limiterOfLimits([minute, bucket, inFlight(4)]);
  const told = outcome(budget, [3, 6], 2, { held: 1, open: 3 });
  expect(told.entries).toEqual([
    { isOver: false, remaining: 4, used: 6, resetSeconds: 60 },
    { isOver: false, remaining: 11, used: 9, resetSeconds: 9 },
    { isOver: false, remaining: 1, used: 3, resetSeconds: 0 },
  ]);
  const refused = outcome(budget, [9, 6], 2, { held: 0, open: 3 });
  expect(refused.entries).toEqual([
    { isOver: true, remaining: 0, used: 9, resetSeconds: 60 },
    { isOver: false, remaining: 14, used: 6, resetSeconds: 6 },
    { isOver: false, remaining: 1, used: 3, resetSeconds: 0 },
  ]);
});

describe('the wait of an ask that is refused', () => {
  const { budget } = limiterOfLimits([bucket]);
  const window = limiterOfLimits([minute]).budget;
  const debtor = { hits: 0, mode: 'charge' } as const;

  it.each([
    ['until so many hits have drained', budget, 18, 5, {}, 3],
    ['until all have, when it asks for all', budget, 5, 20, {}, 5],
    ['until nothing is in use, when it never fits', budget, 5, 21, {}, 5],
    ['not until what is held is charged', budget, 5, 20, { held: 3 }, 5],
    ['until nothing is held or in use, when it never fits', budget, 5, 21, { held: 3 }, 8],
    ['a second, when it would fit without what is held', budget, 15, 5, { held: 3 }, 1],
    ['a second in a window too', window, 0, 10, { held: 3 }, 1],
    ['until the window ends', window, 8, 3, { held: 1 }, 60],
    ['of no hits: until a debt is gone', budget, 22, debtor, {}, 2],
    [
      'to reserve nothing: until one hit is free',
      budget,
      22,
      { ...debtor, mode: 'reserve' },
      {},
      3,
    ],
  ] as const)('lasts %s', (_, rule, used, ask, changes, seconds) => {
    expect(outcome(rule, [used], ask, changes)).toMatchObject({
      isOver: true,
      resetSeconds: seconds,
    });
  });

  it('is a second for a slot, however long it was taken', () => {
    const slots = limiterOfLimits([inFlight(1)]).budget;
    const told = outcome(slots, [], { hits: 1, mode: 'reserve' }, { open: 1 });
    expect(told).toMatchObject({ isOver: true, used: 1, resetSeconds: 1, reserved: -1 });
  });
});

describe('hits that are given back', () => {
  const { budget } = limiterOfLimits([hour, minute, inFlight(1)]);

  it.each([
    ['are over while a limit stays in debt, which answers', [5, 12], true, 1, 60],
    ['are not over once no limit is in debt', [5, 11], false, 2, 0],
    ['are not over for slots that are taken', [1, 1], false, 2, 0],
  ])('%s', (_, used, isOver, entry, resetSeconds) => {
    const told = outcome(budget, used, -1, { open: 2 });
    expect(told).toMatchObject({ isOver, over: 0, entry, resetSeconds });
  });

  it('are over where what is held leaves nothing', () => {
    const over = [11, 10].map((used) => outcome(budget, [0, used], -2, { held: 2 }).isOver);
    expect(over).toEqual([true, false]);
  });

  it('are taken by the counter while a block lasts, and not refused by it', () => {
    const blocked = limiterOfLimits([minute], { block: {} }).budget;
    const told = outcome(blocked, [10], -4, { blocks: [blockFor(20)] });
    expect(told).toMatchObject({ isOver: false, remaining: 4, blockedHits: 0 });
  });
});

it('answers for one limit as that limit does alone', () => {
  const hits = fc.integer({ min: -8, max: 25 });
  fc.assert(
    fc.property(fc.constantFrom(bucket, sliding), fc.nat({ max: 30 }), hits, (limit, used, ask) => {
      const { budget } = limiterOfLimits([limit]);
      const { limiter } = budget.entries[0] as Budget['entries'][number];
      const state = standing(budget, [used]).entries[0] as EntryState;
      const asked = { limiter: limiter as Limiter, hits: ask, times: 1, windowEndSeconds: 0 };
      expect(outcome(budget, [used], ask)).toMatchObject(
        limiter.kind.outcome({ ...asked, ...SOME_MATCH }, state, ask, 0, START),
      );
    }),
  );
});

describe('blocks', () => {
  const block = { after: 1, forMs: 90_000 };

  it('that begin are counted, others are not', () => {
    const { budget } = limiterOfLimits(
      [
        { ...minute, block },
        { ...hour, block },
      ],
      {
        block: { after: 2, forMs: 1_000 },
      },
    );
    const begun = (used: readonly number[], ask: number) => outcome(budget, used, ask).blocksBegun;
    expect([begun([0, 0], 1), begun([10, 0], 1), begun([10, 10], 1)]).toEqual([0, 1, 2]);
  });

  it('refuse from the ask on that begins them', () => {
    const { budget } = limiterOfLimits([second], { block });
    const told = outcome(budget, [3], 2);
    expect(told).toMatchObject({ isOver: true, resetSeconds: 90, blocksBegun: 1, blockedHits: 0 });
  });

  const lasting = { blocks: [blockFor(20)] };

  it('that last refuse for their rest', () => {
    const { budget } = limiterOfLimits([second, minute], { block });
    expect(outcome(budget, [0, 4], 2, lasting)).toMatchObject({
      ...{ isOver: true, remaining: 0, over: 2, used: 0, entry: 0, resetSeconds: 20 },
      ...{ blockedHits: 2, blocksBegun: 0 },
    });
  });

  it.each([
    ['the limit that refuses for longest behind it', [minute, hour], [10, 10], {}, 1, 3_600],
    ['the first such limit, wherever others stand', [hour, minute], [10, 10], {}, 0, 3_600],
    ['the first of two that refuse for as long', [minute, bucket], [2, 8], { held: 12 }, 0, 20],
    ['the first when none refuses', [minute, hour], [1, 9], {}, 0, 20],
    [
      'the one that refuses for a second, before one that does not',
      [bucket, minute],
      [0, 0],
      { held: 10 },
      1,
      20,
    ],
  ] as const)('that last answer for %s', (_, limits, used, changes, entry, wait) => {
    const { budget } = limiterOfLimits(limits, { block });
    const told = outcome(budget, used, 1, { ...lasting, ...changes });
    expect(told).toMatchObject({ isOver: true, entry, resetSeconds: wait });
    expect(told.used).toBe(told.entries[entry]?.used);
  });

  it('that last are told in shadow mode, and refuse nothing', () => {
    const { budget } = limiterOfLimits([minute], { block }, { shadowMode: true });
    expect(outcome(budget, [2], 3, lasting)).toMatchObject({
      ...{ isOver: false, remaining: 5, over: 0, resetSeconds: 60, blockedHits: 3 },
    });
    expect(outcome(budget, [10], 3, lasting)).toMatchObject({ isOver: true, resetSeconds: 60 });
    // Of blocks that it would begin too.
    expect(outcome(budget, [10], 3)).toMatchObject({ resetSeconds: 60, blocksBegun: 1 });
  });
});

it('says what is held from now on, and what was charged in place of it', () => {
  const { budget } = limiterOfLimits([minute, inFlight(2)]);
  const of = (mode: Ask['mode'], hits: number, changes: Changes = {}) => {
    const { reserved, settled, lapsed } = outcome(budget, [2], { mode, hits }, changes);
    return [reserved, settled, lapsed];
  };
  const open = { held: 4, open: 1, was: 4, lapsed: 3 };
  expect(of('reserve', 4)).toEqual([4, -1, 0]);
  expect(of('reserve', 9)).toEqual([-1, -1, 0]);
  expect(of('reserve', 4, open)).toEqual([-1, -1, 3]);
  expect(of('settle', 6, open)).toEqual([-1, 6, 3]);
  // Into a debt, if it must.
  expect(outcome(budget, [2], { hits: 11, mode: 'settle' }, open)).toMatchObject({
    ...{ isOver: false, remaining: 0, settled: 11 },
  });
  expect(of('settle', 6)).toEqual([-1, -1, 0]);
  expect(of('charge', 1)).toEqual([-1, -1, 0]);
});
