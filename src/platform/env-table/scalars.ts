import type { Parser } from './setting';

export const text: Parser<string> = { expected: 'a string', parse: (value) => value };

function matching(expected: string, pattern: RegExp): Parser<string> {
  return { expected, parse: (value) => (pattern.test(value) ? value : undefined) };
}

/** The path of a file or directory. */
export const path: Parser<string> = matching('a path without line breaks', /^[^\0\r\n]+$/);

/** A string without spaces, tabs and line breaks. */
export const word: Parser<string> = matching('a string without whitespace', /^[^\s\0]+$/);

/** The path part of an address, `/metrics`. */
export const urlPath: Parser<string> = matching('a path that starts with /', /^\/[^\s?#]*$/);

/** The name of an HTTP header field (a token of RFC 9110 §5.6.2). */
export const headerName: Parser<string> = matching(
  'the name of an HTTP header',
  /^[!#$%&'*+.^_`|~\w-]+$/,
);

/** Exactly one of these strings. */
export function oneOf<const T extends string>(...choices: readonly T[]): Parser<T> {
  return {
    expected: `one of ${choices.join(', ')}`,
    parse: (value) => choices.find((choice) => choice === value),
  };
}

/** One of these strings in any letter case, and its meaning; names are lower case. */
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

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function parseBoolean(text: string): boolean | undefined {
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : undefined;
}

/** The twelve spellings of Go's strconv.ParseBool, and no other. */
export const boolean: Parser<boolean> = {
  expected: 'true or false (also 1, t, T, TRUE, True, 0, f, F, FALSE, False)',
  parse: parseBoolean,
};

/** `true` or `false`, nothing else. */
export const trueOrFalse: Parser<boolean> = {
  expected: 'true or false',
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};

/** `on` or `off`, nothing else. */
export const onOrOff: Parser<boolean> = {
  expected: 'one of off, on',
  parse: (text) => (text === 'on' || text === 'off' ? text === 'on' : undefined),
};

/** `true` or `false` in any letter case, as in OpenTelemetry's settings. */
export const booleanInAnyCase: Parser<boolean> = {
  expected: 'true or false',
  parse: (text) => trueOrFalse.parse(text.trim().toLowerCase()),
};

/** Go's integer literals: decimal, 0x, 0o, 0b, a leading 0 for octal, `_` between digits. */
const WHOLE =
  /^[+-]?(?:0[xX](?:_?[\da-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?\d)*)$/;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function parseWhole(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  const digits = text.replace(/^[+-]|_/g, '').replace(/^0(?=\d)/, '0o');
  const magnitude = Number(digits);
  return text.startsWith('-') ? 0 - magnitude : magnitude;
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

/** A whole number in a range, both ends included; in the syntax of Go's strconv.ParseInt with base 0. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): Parser<number> {
  const range =
    max === Number.MAX_SAFE_INTEGER
      ? `of at least ${String(min)}`
      : `from ${String(min)} to ${String(max)}`;
  return {
    expected: `a whole number ${range}`,
    parse: (text) => within(parseWhole(text), min, max),
  };
}

/** A decimal number in a range, both ends included; infinity and NaN are refused. */
export function decimalNumber(min: number, max: number): Parser<number> {
  return {
    expected: `a number from ${String(min)} to ${String(max)}`,
    parse: (text) => within(DECIMAL.test(text) ? Number(text) : undefined, min, max),
  };
}

/** Permission bits as `chmod` accepts them, in octal: `0660`, `660`. */
export const fileMode: Parser<number> = {
  expected: 'a file mode in octal, 0000 to 0777',
  parse: (text) => (/^0?[0-7]{3}$/.test(text) ? Number.parseInt(text, 8) : undefined),
};
