import fc from 'fast-check';
import { usedOfNearest, withUsed } from '../../../../src/core/budgets/stored';
import { blockFor, limiterOfLimits, standing } from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';

const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const hour = { unit: 'HOUR', requestsPerUnit: 100 } as const;
const bucket = { unit: 'MINUTE', requestsPerUnit: 60, burst: 20, algorithm: 'gcra' } as const;
const sliding = { unit: 'HOUR', requestsPerUnit: 12, algorithm: 'sliding_window' } as const;

describe('hits in use', () => {
  it.each([
    ['the limit of which the smallest share is left', [minute, hour], [5, 60], {}, 60],
    ['the same, wherever it stands', [hour, minute], [40, 5], {}, 5],
    ['the first of equal shares', [minute, hour], [5, 50], {}, 5],
    ['a bucket, drained in part', [bucket, minute], [13.5, 2], {}, 14],
    ['a limit beside what is held', [minute, hour], [5, 60], { held: 3 }, 8],
    ['a debt', [minute], [13], {}, 13],
    ['a limit of 0', [{ ...minute, requestsPerUnit: 0 }, hour], [0, 50], {}, 0],
    ['no slot where hits are limited', [inFlight(2), minute], [0, 1], { open: 2 }, 1],
    ['slots alone', [inFlight(4), inFlight(2)], [], { open: 2 }, 2],
  ] as const)('are those of %s', (_, limits, used, changes, expected) => {
    const { budget } = limiterOfLimits(limits);
    expect(usedOfNearest(budget, standing(budget, used, changes))).toBe(expected);
  });

  it('are set for one limit, while all else stays', () => {
    const { budget } = limiterOfLimits([minute, bucket, sliding, hour], { block: {} });
    const used = fc.tuple(...budget.entries.map(() => fc.nat({ max: 30 })));
    fc.assert(
      fc.property(used, fc.nat({ max: 3 }), fc.nat({ max: 30 }), (before, at, hits) => {
        const others = { held: 4, open: 2, was: 1, lapsed: 3, blocks: [blockFor(9)] };
        const after = withUsed(budget, standing(budget, before, others), at, hits);
        expect(after).toEqual(standing(budget, before.with(at, hits), others));
      }),
    );
  });
});
