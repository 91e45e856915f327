import { MAX_OPEN, MAX_SUM, type Budget } from '../../../../src/core/budgets/budget';
import { commit } from '../../../../src/core/budgets/commit';
import type { BudgetCharge } from '../../../../src/core/budgets/judge';
import type { BudgetState } from '../../../../src/core/kinds/state';
import { blockFor, limiterOfLimits, standing, START } from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';

const second = { unit: 'SECOND', requestsPerUnit: 3 } as const;
const minute = { unit: 'MINUTE', requestsPerUnit: 10, chargeDenied: true } as const;
const NOW = START * 1_000;

const usedOf = ({ entries }: BudgetState) => entries.map(({ used }) => used);
const strikesOf = ({ blocks }: BudgetState) => blocks.map(({ strikes }) => strikes);
const struck = (strikes: number) => ({
  ...{ strikes, spanEndMs: NOW + 1_000, untilMs: 0, tookMs: 0, quietMs: NOW - 1 },
});

describe('a refused ask', () => {
  const { budget } = limiterOfLimits([second, minute]);

  it('is charged where a limit says so', () => {
    const after = commit(budget, standing(budget, [3, 3]), { hits: 2, mode: 'charge' });
    expect(usedOf(after)).toEqual([3, 5]);
  });

  it('is charged nowhere when it would reserve', () => {
    const full = standing(budget, [3, 3]);
    expect(commit(budget, full, { hits: 2, mode: 'reserve' })).toBe(full);
  });

  it('counts for the blocks of the limits that refuse it, and of the rule', () => {
    const of = { after: 9 };
    const { budget } = limiterOfLimits(
      [
        { ...second, block: of },
        { ...minute, block: of },
      ],
      {
        block: of,
      },
    );
    const strikesAfter = (used: readonly number[], charge: BudgetCharge) =>
      strikesOf(commit(budget, standing(budget, used), charge));
    const [ask, reserve] = (['charge', 'reserve'] as const).map((mode) => ({ hits: 1, mode }));
    expect(strikesAfter([3, 3], ask as BudgetCharge)).toEqual([1, 0, 1]);
    expect(strikesAfter([3, 3], reserve as BudgetCharge)).toEqual([1, 0, 1]);
    expect(strikesAfter([0, 10], ask as BudgetCharge)).toEqual([0, 1, 1]);
    expect(strikesAfter([2, 9], ask as BudgetCharge)).toEqual([0, 0, 0]);
  });

  it.each([
    ['of no hits', 0],
    ['that gives hits back', -1],
  ])('counts for no block %s, as it is not refused', (_, hits) => {
    const { budget } = limiterOfLimits([{ ...minute, block: {} }]);
    const after = commit(budget, standing(budget, [15]), { hits, mode: 'charge' });
    expect([usedOf(after), strikesOf(after)]).toEqual([[15 + hits], [0]]);
    expect(after.blocks[0]?.untilMs).toBe(0);
  });
});

describe('while a block lasts', () => {
  const block = { after: 3, forMs: 60_000 };
  const blocks = [blockFor(30), struck(1)];
  const rule = [{ ...minute, block }, second] as const;
  const ask = { hits: 1, mode: 'charge' } as const;

  it('what it refuses changes nothing', () => {
    const { budget } = limiterOfLimits(rule, { block });
    const state = standing(budget, [10, 3], { blocks });
    expect(commit(budget, state, ask)).toBe(state);
  });

  it('refusals of the limits are charged in shadow mode, and count for no block', () => {
    const { budget } = limiterOfLimits(rule, { block }, { shadowMode: true });
    const after = commit(budget, standing(budget, [10, 3], { blocks }), ask);
    expect([usedOf(after), after.blocks]).toEqual([[11, 3], blocks]);
  });

  it('hits are given back', () => {
    const { budget } = limiterOfLimits(rule, { block });
    const after = commit(budget, standing(budget, [10, 3], { blocks }), {
      hits: -2,
      mode: 'charge',
    });
    expect(usedOf(after)).toEqual([8, 1]);
  });
});

describe('a reservation', () => {
  const { budget } = limiterOfLimits([{ ...minute, chargeDenied: false }, inFlight(2)]);
  const forced: Budget = { ...budget, isForced: true };
  const reserve = { hits: 3, mode: 'reserve' } as const;

  it('holds its hits and a slot, and charges nothing', () => {
    const after = commit(budget, standing(budget, [5], { held: 2, open: 1 }), reserve);
    expect(after).toMatchObject({ held: 5, open: 2, entries: [{ used: 5 }, { used: 0 }] });
  });

  it('that is open already changes nothing', () => {
    const open = standing(budget, [5], { held: 2, open: 1, was: 2 });
    expect(commit(budget, open, reserve)).toBe(open);
  });

  it('is held though it is refused where the rule refuses nothing by itself', () => {
    const full = standing(budget, [9]);
    expect(commit(budget, full, reserve)).toBe(full);
    expect(commit(forced, full, reserve)).toMatchObject({ held: 3, open: 1 });
  });

  it.each([
    [MAX_OPEN - 1, MAX_OPEN],
    [MAX_OPEN, MAX_OPEN],
  ])('beside %i others leaves %i open, though the rule refuses nothing', (open, after) => {
    expect(commit(forced, standing(forced, [0], { open }), reserve).open).toBe(after);
  });

  it('holds sums only as far as they are exact', () => {
    const held = MAX_SUM - 1;
    expect(commit(forced, standing(forced, [0], { held }), reserve).held).toBe(MAX_SUM);
  });

  it('that ends frees what it held and its slot, and is charged what was used', () => {
    const open = standing(budget, [5], { held: 7, open: 2, was: 4 });
    const settled = commit(budget, open, { hits: 6, mode: 'settle' });
    expect(settled).toMatchObject({ held: 3, open: 1, entries: [{ used: 11 }, { used: 0 }] });
    const cancelled = commit(budget, open, { hits: 0, mode: 'cancel' });
    expect(cancelled).toMatchObject({ held: 3, open: 1, entries: open.entries });
  });

  it.each(['settle', 'cancel'] as const)('that is not open is charged nothing by a %s', (mode) => {
    const state = standing(budget, [5], { held: 7, open: 2 });
    expect(commit(budget, state, { hits: 6, mode })).toBe(state);
  });

  it('frees no more than is held', () => {
    const lowered = standing(budget, [5], { held: 3, open: 1, was: 4 });
    expect(commit(budget, lowered, { hits: 0, mode: 'cancel' }).held).toBe(0);
  });
});
