import fc from 'fast-check';
import type { RuleNode } from '../../../../src/core/rules/rules';
import {
  addWildcard,
  createWildcards,
  findWildcard,
  findWildcards,
} from '../../../../src/core/rules/wildcards';

const node = (segment: string) => ({ segment }) as RuleNode;
function indexOf(patterns: readonly string[]) {
  const index = createWildcards<RuleNode>();
  for (const pattern of patterns) addWildcard(index, pattern, node(pattern));
  return index;
}
const find = (patterns: readonly string[], value: string) =>
  findWildcard(indexOf(patterns), value)?.segment;

it.each([
  [['/api/*'], '/api/x', '/api/*'],
  [['/api/*'], '/api/', '/api/*'],
  [['/api/*'], '/ap', undefined],
  [['*'], '', '*'],
  [['*.js'], 'a.js', '*.js'],
  [['*.js'], '.j', undefined],
  [['a*b*c'], 'abc', 'a*b*c'],
  [['a*b*c'], 'acb', undefined],
  [['ab*ba'], 'aba', undefined],
  [['a**b'], 'ab', 'a**b'],
  [['a*bc*c'], 'abc', undefined],
  [['/a/*', '/a/b/*'], '/a/b/c', '/a/*'],
  [['/a/b/*', '/a/*'], '/a/b/c', '/a/b/*'],
  [['/a/*/x', '/a/*'], '/a/b', '/a/*'],
  [['*', 'a*'], 'a*', 'a*'],
])('of %j the value %p takes %p', (patterns, value, expected) => {
  expect(find(patterns, value)).toBe(expected);
});

it('lists the wildcard that reads as the value does before those of the file', () => {
  const listed = (value: string) =>
    findWildcards(indexOf(['*', '*b', 'a*b']), value).map(({ pattern }) => pattern);
  expect(listed('a*b')).toEqual(['a*b', '*', '*b']);
  expect(listed('ab')).toEqual(['*', '*b', 'a*b']);
});

it('agrees with regular expressions tried one after the other', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 });
  const pattern = fc
    .array(fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 3 }), {
      minLength: 2,
      maxLength: 4,
    })
    .map((parts) => parts.join('*'));
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 12 }), text, (patterns, value) => {
      const slow = patterns.find((one) =>
        new RegExp(`^${one.split('*').join('[^]*')}$`).test(value),
      );
      expect(find(patterns, value)).toBe(slow);
    }),
    { numRuns: 2_000 },
  );
});
