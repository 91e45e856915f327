import { NO_BLOCK } from '../../../../src/core/budgets/block';
import type { BudgetLimiter } from '../../../../src/core/budgets/budget';
import { budgetKind, slots } from '../../../../src/core/budgets/budget-kind';
import { unusedBudget } from '../../../../src/core/budgets/advance';
import { underBudget } from '../../../../src/core/budgets/stored';
import { freeHits, lifetimeMs, shareOf, usedHits } from '../../../../src/core/kinds/limiter';
import type { BudgetState, CounterState, Limiter } from '../../../../src/core/kinds/kind';
import { createOverLimitCache } from '../../../../src/counters/over-limit-cache';
import { shareOfBudget } from '../../../../src/core/rules/compile-budget';
import { limiterOfLimits, standing, START } from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';
import { SOME_MATCH } from '../../../support/rules';

const TICK = START * 1_000;

const second = { unit: 'SECOND', requestsPerUnit: 3 } as const;
const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const bucket = { unit: 'MINUTE', requestsPerUnit: 60, burst: 20, algorithm: 'gcra' } as const;
const sliding = { unit: 'HOUR', requestsPerUnit: 12, algorithm: 'sliding_window' } as const;
const block = { after: 1, forMs: 30_000 };
const day = { timeZone: 'UTC', weekStart: 'monday', monthStart: 1 } as const;

const unused = (limiter: BudgetLimiter) => budgetKind.ofHits(limiter, 0, TICK);
const asked = (limiter: BudgetLimiter, hits: number, times = 1) => ({
  ...{ limiter: limiter as unknown as Limiter, hits, times, windowEndSeconds: START },
  ...{ key: '{c:d_k~1}~c', limit: limiter.limit, ttlSeconds: 0, ...SOME_MATCH },
});
const after = (limiter: BudgetLimiter, hits: number, state = unused(limiter)) =>
  budgetKind.commit(asked(limiter, hits), state) ?? state;

describe('the record of a counter', () => {
  const limiter = limiterOfLimits([second, { ...minute, block }, bucket, sliding], { block });

  it('says each limit by its algorithm and period, and blocks that say something', () => {
    const used = after(limiter, 2);
    const [first, second60, third, fourth] = budgetKind.encode(limiter, used).split(';');
    expect([first, second60, fourth]).toEqual([
      `f1 2 ${String(START + 1)}`,
      `f60 2 ${String(START + 60)}`,
      `l3600 ${[0, 1].map(() => String(START * 10_000)).join(' ')}`,
    ]);
    expect(third).toMatch(/^g60 \d+ \d+$/);
    const blocked = after(limiter, 11, used);
    const end = String(TICK + 30_000);
    expect(budgetKind.encode(limiter, blocked)).toContain(`;b:f60 0 0 ${end} 30000 ${end};`);
    expect(budgetKind.encode(limiter, blocked)).toContain(`;b 0 0 ${end} 30000 ${end};`);
  });

  it('is read as it was written, at any later time', () => {
    const blocked = after(limiter, 11, after(limiter, 2));
    const record = budgetKind.encode(limiter, blocked);
    expect(budgetKind.decode(limiter, record, TICK)).toEqual(blocked);
    const later = TICK + 70_000;
    expect(budgetKind.decode(limiter, record, later)).toEqual(
      budgetKind.advance(limiter, blocked, 70_000),
    );
  });

  it.each(['f1', 'f1 2', 'f1 2 3', 'f1 a 3;', 'f1 2;', 'f1 1 2 3;', 'g60 1;', 'b -1 0;'])(
    'is not %j',
    (record) => {
      expect(budgetKind.decode(limiter, record, TICK)).toBeUndefined();
    },
  );

  it('may hold limits that the rule has no more, and lack new ones', () => {
    const state = budgetKind.decode(
      limiterOfLimits([minute, inFlight(2)]),
      `f1 2 9;f60 7 ${String(START + 60)};`,
      TICK,
    );
    expect(state).toMatchObject({ entries: [{ used: 7 }, { used: 0 }], blocks: [] });
  });

  it('is read as 1.0.0-rc.1 wrote it: blocks by the place of their limit, small sliding limits as windows', () => {
    const end = String(TICK + 30_000);
    const hour = String(START / 3_600);
    const record = `f1 0 ${String(START + 1)};s3600 ${hour} 0 5;b1 0 0 ${end} 30000 ${end};`;
    const { entries, blocks } = budgetKind.decode(limiter, record, TICK) as BudgetState;
    expect([entries[3]?.used, blocks[0]?.untilMs]).toEqual([5, TICK + 30_000]);
    expect(budgetKind.decode(limiter, `s3600 ${hour} 0;`, TICK)?.entries[3]?.used).toBe(0);
  });

  it('was written by a wrong clock where one of its ends is too far away', () => {
    const used = after(limiter, 2);
    expect(budgetKind.isAstray(limiter, used, 1_000)).toBe(false);
    expect(budgetKind.isAstray(limiter, used, -86_400_000)).toBe(true);
  });

  it('finds a calendar by its period, time zone and start', () => {
    const limiter = limiterOfLimits([{ ...minute, unit: 'DAY', calendar: day }]);
    expect(budgetKind.encode(limiter, after(limiter, 3))).toMatch(/^c1DAY\/UTC\/monday\/1 3 \d+;$/);
  });
});

describe('a budget as a kind', () => {
  it('has as many hits free as its nearest limit, whose slots are another matter', () => {
    const limiter = limiterOfLimits([second, minute, inFlight(1)]);
    expect([limiter.limit, limiter.size, limiter.isNeverMerged]).toEqual([3, 3, true]);
    expect([freeHits(limiter, after(limiter, 2)), usedHits(limiter, after(limiter, 2))]).toEqual([
      1, 2,
    ]);
    expect(freeHits(limiter, budgetKind.take(limiter, unused(limiter), 2))).toBe(1);
    expect(freeHits(limiter, { ...unused(limiter), open: 1 })).toBe(3);
    const draining = limiterOfLimits([bucket, minute]);
    expect(freeHits(draining, standing(draining.budget, [14.5, 0]))).toBe(5);
    const slotsAlone = limiterOfLimits([inFlight(4)]);
    expect([slotsAlone.limit, slotsAlone.size]).toEqual([4, 4]);
    expect([slots.serves(), budgetKind.serves()]).toEqual([false, false]);
    expect([slots.words.ofLimiter(), budgetKind.words.ofLimiter()]).toEqual([[], []]);
    const hitsCharged: () => number | undefined = budgetKind.hitsCharged;
    expect(hitsCharged()).toBeUndefined();
    const [entry] = slotsAlone.budget.entries;
    const taken = { used: 1, previous: 0, elapsed: 0 };
    expect(slots.take(entry?.limiter as Limiter<CounterState>, taken)).toBe(taken);
  });

  it('is shared by instances limit by limit', () => {
    const shared = shareOfBudget(limiterOfLimits([minute, bucket, inFlight(4)]), (one) =>
      shareOf(one, 2),
    );
    expect(shared.budget.entries.map(({ limiter }) => [limiter.limit, limiter.size])).toEqual([
      [5, 5],
      [30, 10],
      [2, 2],
    ]);
  });

  it('refuses what one limit refuses, and hits that are given back while it is in debt', () => {
    const limiter = limiterOfLimits([second, minute]);
    const full = after(limiter, 3);
    const refused = [1, 4, 0, -1].map((hits) => budgetKind.refuses(asked(limiter, hits), full));
    expect(refused).toEqual([true, true, false, false]);
    expect(budgetKind.refuses(asked(limiter, 1, 3), after(limiter, 1))).toBe(true);
    expect(budgetKind.isAnyRefused(asked(limiter, 1, 2), after(limiter, 1))).toBe(false);
    const debt = budgetKind.take(limiter, unused(limiter), 12);
    expect(budgetKind.refuses(asked(limiter, -1), debt)).toBe(true);
    expect(budgetKind.isTakenBack(asked(limiter, -1), full)).toBe(true);
    expect(budgetKind.isTakenBack(asked(limiter, -1), after(limiter, 1))).toBe(false);
  });

  it('refuses hits that are given back until the debt is gone', () => {
    const limiter = limiterOfLimits([minute]);
    const debt = standing(limiter.budget, [12]);
    const refused = [-1, -2, -3].map((hits) => budgetKind.refuses(asked(limiter, hits), debt));
    expect(refused).toEqual([true, false, false]);
  });

  it('answers each of several equal asks as if it had come alone', () => {
    const limiter = limiterOfLimits([minute, bucket]);
    const answers = [1, 2, 3, 4, 5].map((number) => {
      const told = budgetKind.outcome(
        asked(limiter, 4, 5),
        unused(limiter),
        4,
        4 * (5 - number),
        START,
      );
      return [told.isOver, told.remaining, told.used];
    });
    expect(answers).toEqual([
      [false, 6, 4],
      [false, 2, 8],
      [true, 0, 8],
      [true, 0, 8],
      [true, 0, 8],
    ]);
  });

  it('charges the first of several equal asks that fit, and the others where a limit says so', () => {
    const limiter = limiterOfLimits([second, { ...minute, chargeDenied: true }]);
    const state = budgetKind.commit(asked(limiter, 2, 4), unused(limiter)) as BudgetState;
    expect(state.entries.map(({ used }) => used)).toEqual([2, 8]);
    expect(budgetKind.commit(asked(limiter, 0), unused(limiter))).toBeUndefined();
  });

  it('is kept until nothing of it is in use', () => {
    const limiter = limiterOfLimits([minute, sliding]);
    const hour = START + 3_600;
    expect(lifetimeMs(limiter, after(limiter, 1))).toBe((hour - START) * 1_000 + 1_000);
    expect(budgetKind.ticksUntilReset(limiter, after(limiter, 1))).toBe((hour - START) * 1_000);
    expect(budgetKind.ticksUntilFree(limiter, after(limiter, 1))).toBe((hour - START) * 1_000);
    const blocking = limiterOfLimits([second], { block });
    expect(lifetimeMs(blocking, after(blocking, 4))).toBe(61_000);
  });

  it('keeps what was used under limits that change, and begins anew under new ones', () => {
    const before = limiterOfLimits([second, minute], { block });
    const now = limiterOfLimits([minute, bucket], { block: { ...block, forMs: 1 } });
    const state = after(before, 4, after(before, 2));
    const moment = { micros: TICK * 1_000, nowSeconds: START };
    const kept = underBudget(now.budget, { budget: before.budget, state, strays: [] }, moment);
    expect(kept.entries).toMatchObject([{ used: 2 }, { used: 0 }]);
    expect(kept.blocks).toEqual(state.blocks);
    const blockless = limiterOfLimits([minute]);
    const without = {
      budget: blockless.budget,
      state: unusedBudget(blockless.budget, moment),
      strays: [],
    };
    expect(underBudget(now.budget, without, moment).blocks).toEqual([NO_BLOCK]);
    expect(underBudget(before.budget, { budget: before.budget, state, strays: [] }, moment)).toBe(
      state,
    );
  });
});

describe('the cache of refusals', () => {
  const cacheOf = () => createOverLimitCache({}, { sizeBytes: 1_000_000 });

  it('answers for a list while the ask would be refused', () => {
    const limiter = limiterOfLimits([second, minute]);
    const cache = cacheOf();
    const full = after(limiter, 1, after(limiter, 3));
    const refusal = budgetKind.refusal(asked(limiter, 1), full, false);
    expect(refusal).toBeDefined();
    cache.remember(asked(limiter, 1), refusal as BudgetState, START);
    expect(cache.refusing(asked(limiter, 1), START)).toBeDefined();
    expect(cache.refusing(asked(limiter, 1), START + 1)).toBeUndefined();
    expect(budgetKind.refusal(asked(limiter, 1), unused(limiter), false)).toBe('none');
    expect(budgetKind.refusal(asked(limiter, 1), full, true)).toBeUndefined();
  });

  it('answers for a rule with blocks only while one lasts', () => {
    const limiter = limiterOfLimits([second], {
      block: { after: 2, withinMs: 9_000, forMs: 30_000 },
    });
    const cache = cacheOf();
    const full = after(limiter, 3);
    expect(budgetKind.refusal(asked(limiter, 1), full, false)).toBe('none');
    const struck = after(limiter, 1, full);
    const blocked = budgetKind.refusal(asked(limiter, 1), struck, false) as BudgetState;
    cache.remember(asked(limiter, 1), blocked, START);
    expect(cache.refusing(asked(limiter, 1), START + 29)).toBeDefined();
    expect(cache.refusing(asked(limiter, 1), START + 30)).toBeUndefined();
  });

  it('knows nothing of reservations, nor of rules that take them', () => {
    const limiter = limiterOfLimits([minute], { reserve: {} });
    expect(budgetKind.isRecalled(asked(limiter, 1))).toBe(false);
    const reservation = { mode: 'reserve', id: 'a', saysHits: true } as const;
    const blocking = limiterOfLimits([minute], { block });
    expect(budgetKind.isRecalled({ ...asked(blocking, 1), reservation })).toBe(false);
    expect(budgetKind.isRecalled(asked(blocking, 1))).toBe(true);
    expect(budgetKind.isRecalled(asked(blocking, 0))).toBe(false);
  });
});

it('counts what was held back as looked at', () => {
  const limiter = limiterOfLimits([second]);
  const lapsed = { ...after(limiter, 1), lapsed: 5 };
  expect(budgetKind.heldOutcome(asked(limiter, 4), lapsed, 4, START)).toMatchObject({
    isOver: false,
    over: 0,
    lapsed: 0,
  });
  const debt = budgetKind.take(limiter, unused(limiter), 5);
  expect(budgetKind.heldOutcome(asked(limiter, 4), debt, 4, START)).toMatchObject({
    isOver: true,
    over: 4,
  });
});
