import {
  byPlace,
  describePlace,
  problemText,
  WHOLE,
  type Place,
  type RuleProblem,
} from '../../../src/fields/problem';

const problem = (at: Place, file = 'shop'): RuleProblem => ({
  severity: 'error',
  class: 'empty-key',
  file,
  at,
  message: 'a descriptor has no key',
});

const SORTED: readonly Place[] = [
  WHOLE,
  { path: 'descriptors[2]' },
  { path: 'descriptors[2].descriptors[0]' },
  { path: 'descriptors[10]' },
  { line: 2, column: 3 },
  { line: 10, column: 1 },
  { line: 10, column: 5 },
];

it('sorts the problems of a source by place, descriptors by their numbers', () => {
  const sorted = SORTED.toReversed()
    .map((at) => problem(at))
    .sort(byPlace);
  expect(sorted.map(({ at }) => at)).toEqual(SORTED);
});

it.each<[Place, string, string]>([
  [{ line: 12, column: 9 }, 'on line 12', 'shop:12:9: a descriptor has no key'],
  [
    { path: 'descriptors[2]' },
    'at descriptors[2]',
    'shop: descriptors[2]: a descriptor has no key',
  ],
  [WHOLE, 'at ', 'shop: a descriptor has no key'],
])('writes the place %j', (at, place, text) => {
  expect([describePlace(at), problemText(problem(at))]).toEqual([place, text]);
});

it('writes a problem of a source without a file by its message', () => {
  expect(problemText(problem(WHOLE, ''))).toBe('a descriptor has no key');
});
