import { createPeriods } from '../../../../src/core/rules/compile-period';

const limit = { requestsPerUnit: 1, unlimited: false, name: '', replaces: [] };

it('knows the windows of a unit without looking for them', () => {
  expect(createPeriods()({ ...limit, unit: 'MINUTE' })).toEqual({
    unit: 'MINUTE',
    multiplier: 1,
    seconds: 60,
    windowAt: undefined,
  });
});

it('takes a number of units for the larger unit that they make', () => {
  const periodOf = createPeriods();
  expect(periodOf({ ...limit, unit: 'SECOND', unitMultiplier: 60 })).toMatchObject({
    unit: 'MINUTE',
    multiplier: 1,
    windowAt: undefined,
  });
});

it('shares the windows of rules of equal length', () => {
  const periodOf = createPeriods();
  const five = periodOf({ ...limit, unit: 'MINUTE', unitMultiplier: 5 });
  expect(five).toMatchObject({ unit: 'MINUTE', multiplier: 5, seconds: 300 });
  expect(five.windowAt?.(1_700_000_125)).toMatchObject({ startSeconds: 1_700_000_100 });
  const same = periodOf({ ...limit, unit: 'SECOND', unitMultiplier: 300 });
  expect(same.windowAt).toBe(five.windowAt);
});
