import type { BudgetLimiter } from '../../../../src/core/budgets/budget';
import { placeOfLimit, type KeyRules, type RuleLimit } from '../../../../src/core/rules/rules';
import { budgetOf, inFlight, type LimitSketch } from '../../../support/budgets';
import { rulesOf } from '../../../support/rules';

const HOUR: LimitSketch = { unit: 'HOUR', requestsPerUnit: 5 };
const DAY: LimitSketch = { unit: 'DAY', requestsPerUnit: 9 };

function limitOf(limits: readonly LimitSketch[], more?: Parameters<typeof budgetOf>[1]): RuleLimit {
  const rules = rulesOf('d', [{ key: 'k', ...budgetOf(limits, more) }]);
  return (rules.domains.get('d')?.top as KeyRules).anyValue?.limit as RuleLimit;
}

describe('the end of the keys of a rule with several limits', () => {
  it.each([
    ['a list', limitOf([HOUR, DAY]), '~c'],
    ['a block', limitOf([HOUR], { block: {} }), '~c'],
    ['reservations', limitOf([HOUR, DAY], { reserve: {} }), '~r'],
    ['slots', limitOf([HOUR, inFlight(3)]), '~r'],
  ])('tells in which form %s is kept', (_, { limiter }, end) => {
    expect(limiter.keyEnd).toBe(end);
  });

  it('stays where another rule replaces the slots: the counter of the other limits is the same', () => {
    const limit = limitOf([HOUR, inFlight(3)]);
    const [hour] = limit.budget?.entries ?? [];
    const left = limit.budget?.withEntries([hour, undefined]);
    expect(left?.limiter.keyEnd).toBe('~r');
    expect((left?.limiter as unknown as BudgetLimiter).budget.reserve).toEqual({
      leaseMs: 600_000,
      isReleased: false,
    });
  });
});

describe('the place of a limit among those of its rule', () => {
  const named = limitOf([
    { ...HOUR, name: 'burst' },
    { ...DAY, name: 'daily' },
  ]);

  it.each([
    ['daily', 1],
    ['burst', 0],
    ['monthly', undefined],
    [undefined, undefined],
  ])('of %s is %s', (name, place) => {
    expect(placeOfLimit(named, name)).toBe(place);
  });

  it('is none in a rule of one limit', () => {
    const { domains } = rulesOf('d', [
      { key: 'k', limit: { unit: 'HOUR', requestsPerUnit: 5, name: 'burst' } },
    ]);
    const limit = (domains.get('d')?.top as KeyRules).anyValue?.limit as RuleLimit;
    expect(placeOfLimit(limit, 'burst')).toBeUndefined();
  });
});
