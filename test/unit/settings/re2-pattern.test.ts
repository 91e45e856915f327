import { compilePattern } from '../../../src/settings/re2-pattern';

describe('a pattern written for Go', () => {
  it.each([
    ['^a\\.(.*)\\.b$', 'a.x.y.b', ['a.x.y.b', 'x.y']],
    ['(?P<key>[a-z]+)_hits', 'total_hits', ['total_hits', 'total']],
    ['(?i)HITS', 'hits', ['hits']],
    ['(?is)A.B', 'a\nb', ['a\nb']],
    ['\\Aab\\z', 'ab', ['ab']],
    ['(?m)\\Ab', 'a\nb', undefined],
    ['a\\z', 'ab', undefined],
    ['[[:alpha:]]+', '1ab2', ['ab']],
    ['[[:digit:][:punct:]]+', 'a1]-2b', ['1]-2']],
    ['[]a]+', 'x]a]', [']a]']],
    ['[^]a]+', ']xyz', ['xyz']],
    ['\\[x\\]', '[x]', ['[x]']],
  ])('%s on %j', (pattern, text, groups) => {
    const match = compilePattern(pattern).exec(text);
    expect(match === null ? undefined : [...match]).toEqual(groups);
  });

  it.each([
    ['(a', 'Unterminated group'],
    ['[a', 'Unterminated character class'],
    ['a**', 'Nothing to repeat'],
    ['\\pL', '\\p is not supported'],
    ['\\Qa.b\\E', '\\Q is not supported'],
    ['[[:^alpha:]]', '[:^alpha:] is not supported'],
    ['[[:nothing:]]', '[:nothing:] is not supported'],
  ])('is refused where it has no meaning here: %s', (pattern, reason) => {
    expect(() => compilePattern(pattern)).toThrow(reason);
    expect(() => compilePattern(pattern)).toThrow(SyntaxError);
  });
});
