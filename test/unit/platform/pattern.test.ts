import { compilePattern } from '../../../src/platform/pattern';

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
    ['\\pL+', '1äb', ['äb']],
    ['\\Qa.b\\E', 'axb a.b', ['a.b']],
    ['[[:^alpha:]]', 'a1', ['1']],
    ['(a)?(b)', 'b', ['b', '', 'b']],
    ['^.$', '\u{1F600}', ['\u{1F600}']],
    ['a|ab', 'ab', ['a']],
  ])('%s on %j', (pattern, text, groups) => {
    expect(compilePattern(pattern)(text)).toEqual(groups);
  });

  it('with stars in stars finds nothing in a long text without what it ends with', () => {
    expect(compilePattern('(a*)*(a*)*(a*)*b$')('a'.repeat(2_000))).toBeUndefined();
  });

  it.each([
    ['(a', 'missing closing )'],
    ['[a', 'missing closing ]'],
    ['a**', 'invalid nested repetition operator'],
    ['[[:nothing:]]', 'invalid character class range'],
    ['(?=a)', 'invalid or unsupported Perl syntax'],
    ['(a)\\1', 'invalid escape sequence'],
    ['a{1001}', 'invalid repeat count'],
  ])('is refused where Go refuses it: %s', (pattern, reason) => {
    expect(() => compilePattern(pattern)).toThrow(reason);
  });
});
