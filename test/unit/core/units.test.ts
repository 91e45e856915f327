import {
  UNIT_NUMBERS,
  UNIT_SECONDS,
  unitOfName,
  unitOfNumber,
  windowStart,
} from '../../../src/core/units';

it.each([
  ['SECOND', 1, 1],
  ['MINUTE', 60, 2],
  ['HOUR', 3_600, 3],
  ['DAY', 86_400, 4],
  ['WEEK', 604_800, 7],
  ['MONTH', 2_592_000, 5],
  ['YEAR', 31_536_000, 6],
] as const)('%s lasts %d seconds and is number %d on the wire', (unit, seconds, number) => {
  expect(UNIT_SECONDS[unit]).toBe(seconds);
  expect(UNIT_NUMBERS[unit]).toBe(number);
  expect(unitOfNumber(number)).toBe(unit);
});

it.each([0, 8, -1, 1.5])('number %p is no unit', (number) => {
  expect(unitOfNumber(number)).toBeUndefined();
});

it.each([
  ['minute', 'MINUTE'],
  ['Week', 'WEEK'],
  ['fortnight', undefined],
  ['', undefined],
  ['constructor', undefined],
])('the name %p is the unit %p', (name, unit) => {
  expect(unitOfName(name)).toBe(unit);
});

it('starts windows at multiples of the unit since 1970', () => {
  expect(windowStart('HOUR', 1_795_240_201.958)).toBe(1_795_237_200);
  expect(windowStart('WEEK', 1_795_240_666)).toBe(1_795_046_400);
});
