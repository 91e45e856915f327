import fc from 'fast-check';
import { advanceBudget, unusedBudget } from '../../../../src/core/budgets/advance';
import { budgetKind } from '../../../../src/core/budgets/budget-kind';
import { standingOf } from '../../../../src/core/budgets/stored';
import type { BudgetState } from '../../../../src/core/kinds/state';
import {
  blockFor,
  limiterOfLimits,
  momentAfter,
  standing,
  START,
} from '../../../support/budget-limiters';

const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const bucket = { unit: 'MINUTE', requestsPerUnit: 60, burst: 20, algorithm: 'gcra' } as const;
const limiter = limiterOfLimits([minute, bucket], { reserve: {}, block: {} });
const { budget } = limiter;

const recordOf = (state: BudgetState) => budgetKind.encode(limiter, state);
const lapsesOf = (...ends: readonly number[]) =>
  ends.map((seconds) => ({ hits: 2, endMs: (START + seconds) * 1_000 }));

it('is unused where no record is kept', () => {
  const kept = { record: undefined, lapses: [] };
  expect(standingOf(budget, kept, momentAfter(7))).toEqual(unusedBudget(budget, momentAfter(7)));
});

it('is undefined where the record is of another kind', () => {
  expect(standingOf(budget, { record: '3', lapses: [] }, momentAfter(7))).toBeUndefined();
});

it('is what was written, as it stands after the leases that are over', () => {
  const seconds = fc.integer({ min: 0, max: 90 });
  const ends = fc.array(seconds, { maxLength: 3 }).map((all) => all.sort((a, b) => a - b));
  fc.assert(
    fc.property(fc.nat({ max: 12 }), fc.nat({ max: 24 }), ends, seconds, (one, two, ends, more) => {
      const held = { held: 9, open: 4 };
      const state = standing(budget, [one, two], { ...held, blocks: [blockFor(15)] });
      const moment = momentAfter((ends.at(-1) ?? 0) + more);
      const lapses = lapsesOf(...ends);
      const stands = standingOf(budget, { record: recordOf(state), ...held, lapses }, moment);
      expect(stands).toEqual(advanceBudget(budget, state, lapses, moment));
    }),
  );
});

it('is charged at its end what a lease held where no record is kept', () => {
  const kept = { record: undefined, held: 2, open: 1, lapses: lapsesOf(10) };
  expect(standingOf(budget, kept, momentAfter(11))).toMatchObject({
    ...{ held: 0, open: 0, lapsed: 2 },
    entries: [{ used: 2 }, { used: 60_000_000 }],
  });
});
