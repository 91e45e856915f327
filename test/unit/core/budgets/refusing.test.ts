import fc from 'fast-check';
import { budgetKind } from '../../../../src/core/budgets/budget-kind';
import { refusalOfOne } from '../../../../src/core/budgets/outcome';
import type { Limiter } from '../../../../src/core/kinds/kind';
import { blockFor, limiterOfLimits, standing, START } from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';
import { SOME_MATCH } from '../../../support/rules';

const second = { unit: 'SECOND', requestsPerUnit: 3 } as const;
const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const block = { after: 1, forMs: 30_000 };

describe('the refusal of one hit', () => {
  it.each([
    ['of the limit that refuses for longest', [3, 10], {}, { limit: 10, used: 10 }, 60],
    ['of the only limit that refuses', [3, 0], {}, { limit: 3, used: 3 }, 1],
    ['of what is held', [0, 8], { held: 2 }, { limit: 10, used: 10 }, 1],
    ['of a block that lasts', [0, 2], { blocks: [blockFor(20)] }, { limit: 3, used: 0 }, 20],
  ])(
    'is that %s, not of a block that it would begin',
    (_, used, changes, expected, resetSeconds) => {
      const limiter = limiterOfLimits([second, minute], { block });
      const refused = refusalOfOne(limiter, standing(limiter.budget, used, changes), START);
      expect(refused).toEqual({ ...expected, resetSeconds });
    },
  );

  it('is that of a reservation where the rule takes these', () => {
    const limiter = limiterOfLimits([minute, inFlight(2)]);
    const of = (open: number) =>
      refusalOfOne(limiter, standing(limiter.budget, [4], { open }), START);
    expect([of(1), of(2)]).toEqual([undefined, { limit: 2, used: 2, resetSeconds: 1 }]);
  });

  it('is there when an ask of one hit is refused, and only then', () => {
    const limiter = limiterOfLimits([second, minute], { block });
    const seconds = fc.integer({ min: -9, max: 9 });
    fc.assert(
      fc.property(fc.nat({ max: 6 }), fc.nat({ max: 14 }), seconds, (one, two, blocked) => {
        const state = standing(limiter.budget, [one, two], { blocks: [blockFor(blocked)] });
        const ask = {
          ...{ limiter: limiter as unknown as Limiter, hits: 1, times: 1 },
          ...SOME_MATCH,
        };
        const isRefused = budgetKind.refuses({ ...ask, windowEndSeconds: START }, state);
        expect(refusalOfOne(limiter, state, START) !== undefined).toBe(isRefused);
      }),
    );
  });
});
