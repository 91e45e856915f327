import type { Parser } from './parser';

/** Any text. */
export const text: Parser<string> = { expected: 'a text', parse: (value) => value };

function matching(expected: string, pattern: RegExp): Parser<string> {
  return { expected, parse: (value) => (pattern.test(value) ? value : undefined) };
}

/** The path of a file or directory. */
export const path: Parser<string> = matching('a path without line breaks', /^[^\0\r\n]+$/);

/** A text without spaces, tabs and line breaks. */
export const word: Parser<string> = matching('a text without white space', /^[^\s\0]+$/);

/** The path part of an address, `/metrics`. */
export const urlPath: Parser<string> = matching('a path that starts with /', /^\/[^\s?#]*$/);

/** The name of an HTTP header field (a token of RFC 9110 §5.6.2). */
export const headerName: Parser<string> = matching(
  'the name of an HTTP header',
  /^[!#$%&'*+.^_`|~\w-]+$/,
);

/** Exactly one of these texts. */
export function oneOf<const T extends string>(...choices: readonly T[]): Parser<T> {
  return {
    expected: `one of ${choices.join(', ')}`,
    parse: (value) => choices.find((choice) => choice === value),
  };
}

/** One of these texts in any letter case, and what each of them means; names are lower case. */
export function oneOfInAnyCase<const T extends string>(
  meanings: Readonly<Record<string, T>>,
): Parser<T> {
  return {
    expected: `one of ${Object.keys(meanings).join(', ')}`,
    parse: (value) => {
      const name = value.toLowerCase();
      return Object.hasOwn(meanings, name) ? meanings[name] : undefined;
    },
  };
}
