import { advanceBudget } from '../../../../src/core/budgets/advance';
import type { EntryState } from '../../../../src/core/kinds/state';
import { limiterOfLimits, momentAfter, standing, START } from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';

const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const bucket = { unit: 'MINUTE', requestsPerUnit: 60, burst: 20, algorithm: 'gcra' } as const;
const HIT = 60_000_000;

const lapse = (seconds: number, hits: number) => ({ hits, endMs: (START + seconds) * 1_000 });
const first = ({ entries }: { readonly entries: readonly EntryState[] }) =>
  entries[0] as EntryState;

describe('leases that are over', () => {
  it('are charged to a bucket when they end, and drain from then on', () => {
    const { budget } = limiterOfLimits([bucket], { reserve: {} });
    const stored = standing(budget, [15], { held: 8, open: 3 });
    const lapses = [lapse(10, 5), lapse(20, 2)];
    const at = (seconds: number) =>
      first(advanceBudget(budget, stored, lapses, momentAfter(seconds))).used / HIT;
    // 15 drain to 5, and 5 more to 0 after 20 s.
    expect([at(20), at(21)]).toEqual([2, 1]);
  });

  it('are charged at once where they ended before the counter was written', () => {
    const { budget } = limiterOfLimits([bucket], { reserve: {} });
    const stored = standing(budget, [3], { held: 4, open: 1 });
    const after = advanceBudget(budget, stored, [lapse(-30, 4)], momentAfter(1));
    expect(first(after).used).toBe(6 * HIT);
  });

  it.each([
    ['before it', -1, 0],
    ['as it began', 0, 4],
    ['in it', 59, 4],
  ])('are charged to a window when they ended %s: %i s', (_, seconds, used) => {
    const { budget } = limiterOfLimits([minute], { reserve: {} });
    const stored = standing(budget, [0], { held: 4, open: 1 });
    const after = advanceBudget(budget, stored, [lapse(seconds, 4)], momentAfter(59));
    expect(first(after)).toMatchObject({ used, endSeconds: START + 60 });
  });

  it('free what they held, and charge nothing where the rule releases it', () => {
    const { budget } = limiterOfLimits([minute, inFlight(3)], {
      reserve: { unsettled: 'release' },
    });
    const stored = standing(budget, [1], { held: 7, open: 2 });
    const after = advanceBudget(budget, stored, [lapse(5, 4)], momentAfter(10));
    expect(after).toMatchObject({ held: 3, open: 1, was: -1, lapsed: 4 });
    expect(first(after).used).toBe(1);
  });

  it('free no more than is held', () => {
    const { budget } = limiterOfLimits([minute], { reserve: {} });
    const stored = standing(budget, [0], { held: 2, open: 1 });
    expect(advanceBudget(budget, stored, [lapse(5, 4)], momentAfter(10)).held).toBe(0);
  });
});

describe('a window', () => {
  const { budget } = limiterOfLimits([minute]);
  const stored = standing(budget, [4]);
  const at = (seconds: number) => first(advanceBudget(budget, stored, [], momentAfter(seconds)));

  it.each([
    ['stays until it ends', 59, { used: 4, endSeconds: START + 60 }],
    ['begins anew when it has ended', 60, { used: 0, endSeconds: START + 120 }],
    ['never goes back', -1, { used: 4, endSeconds: START + 60 }],
  ])('%s', (_, seconds, expected) => {
    expect(at(seconds)).toMatchObject(expected);
  });
});
