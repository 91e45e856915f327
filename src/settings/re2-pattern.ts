/** Named classes of RE2 as they stand inside the brackets of a JavaScript class. */
const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
};
const FLAGS = /^\(\?([ims]+)\)/;
const TOKEN = /\\[\s\S]|\(\?P<|\[:(\^?[a-z]+):\]|\[\^?\]?/g;
const START_OF_TEXT = '(?<![\\s\\S])';
const END_OF_TEXT = '(?![\\s\\S])';

function refuse(part: string): never {
  throw new SyntaxError(`${part} is not supported`);
}

function toEscape(escape: string): string {
  if (escape === '\\A') return START_OF_TEXT;
  if (escape === '\\z') return END_OF_TEXT;
  return /^\\[CEpPQ]$/.test(escape) ? refuse(escape) : escape;
}

function toToken(token: string, className: string | undefined): string {
  if (className !== undefined) return CLASSES[className] ?? refuse(token);
  if (token === '(?P<') return '(?<';
  if (token.startsWith('\\')) return toEscape(token);
  return token.replace(']', '\\]');
}

/**
 * A pattern as operators write it for Go's regexp package (RE2 syntax), for JavaScript.
 * Throws a SyntaxError where it does not compile or has no counterpart here.
 */
export function compilePattern(pattern: string): RegExp {
  const [whole = '', flags = ''] = FLAGS.exec(pattern) ?? [];
  const source = pattern
    .slice(whole.length)
    .replace(TOKEN, (token, className: string | undefined) => toToken(token, className));
  return new RegExp(source, [...new Set(flags)].join(''));
}
