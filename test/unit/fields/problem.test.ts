import {
  addUnlisted,
  byPlace,
  countErrors,
  describePlace,
  firstProblems,
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

describe('the first problems', () => {
  const remark = (at: Place): RuleProblem => ({ ...problem(at), severity: 'warning' });
  const line = (number: number): Place => ({ line: number, column: 1 });
  const lines = ({ problems, unlisted }: ReturnType<typeof firstProblems>) => [
    problems.map(({ at }) => ('line' in at ? at.line : 0)),
    unlisted,
  ];

  it('are all where these are few', () => {
    const few = [remark(line(1)), problem(line(2))];
    expect(firstProblems(few, 2)).toEqual({ problems: few, unlisted: undefined });
  });

  it('are mistakes before remarks, in their order', () => {
    const all = [remark(line(1)), problem(line(2)), remark(line(3)), problem(line(4))];
    expect(lines(firstProblems(all, 3))).toEqual([[1, 2, 4], { errors: 0, warnings: 1 }]);
    expect(lines(firstProblems(all, 1))).toEqual([[2], { errors: 1, warnings: 2 }]);
  });

  it('are a hundred where nothing else is said', () => {
    const all = Array.from({ length: 20_000 }, (_, at) => problem(line(at)));
    const first = firstProblems(all);
    expect([first.problems.length, first.unlisted]).toEqual([100, { errors: 19_900, warnings: 0 }]);
    expect(countErrors(first)).toBe(20_000);
    expect(countErrors({ problems: [problem(WHOLE), remark(WHOLE)] })).toBe(1);
  });

  it.each([
    [undefined, undefined, undefined],
    [{ errors: 1, warnings: 2 }, undefined, { errors: 1, warnings: 2 }],
    [undefined, { errors: 1, warnings: 2 }, { errors: 1, warnings: 2 }],
    [
      { errors: 1, warnings: 2 },
      { errors: 3, warnings: 4 },
      { errors: 4, warnings: 6 },
    ],
  ])('that are left out of two lists, %j and %j, are %j', (a, b, sum) => {
    expect(addUnlisted(a, b)).toEqual(sum);
  });
});
