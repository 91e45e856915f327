import type { Parser } from './table';

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

const asWritten = (word: string): string => word;
const inLowerCase = (word: string): string => word.toLowerCase();

/** Words and what they mean. */
function words<T>(
  meanings: Readonly<Record<string, T>>,
  keyOf = asWritten,
  expected = `one of ${Object.keys(meanings).join(', ')}`,
): Parser<T> {
  const known = new Map(Object.entries(meanings));
  return { expected, parse: (word) => known.get(keyOf(word)) };
}

const themselves = <T extends string>(choices: readonly T[]) =>
  Object.fromEntries(choices.map((choice) => [choice, choice]));

/** Exactly one of these strings. */
export function oneOf<const T extends string>(...choices: readonly T[]): Parser<T> {
  return words<T>(themselves(choices));
}

/** One of these strings in any letter case; they are lower case. */
export function oneOfInAnyCase<const T extends string>(...choices: readonly T[]): Parser<T> {
  return words<T>(themselves(choices), inLowerCase);
}

/** One of these strings in any letter case, and its meaning; names are lower case. */
export function synonyms<const T extends string>(meanings: Readonly<Record<string, T>>): Parser<T> {
  return words<T>(meanings, inLowerCase);
}

const yes = { 1: true, t: true, T: true, TRUE: true, true: true, True: true };
const no = { 0: false, f: false, F: false, FALSE: false, false: false, False: false };

/** The twelve spellings of Go's strconv.ParseBool, and no other. */
export const boolean = words(
  { ...yes, ...no },
  asWritten,
  'true or false (also 1, t, T, TRUE, True, 0, f, F, FALSE, False)',
);

/** `true` or `false`, nothing else. */
export const trueOrFalse = words({ true: true, false: false }, asWritten, 'true or false');

/** `on` or `off`, nothing else. */
export const onOrOff = words({ off: false, on: true });

/** `true` or `false` in any letter case, as in OpenTelemetry's settings. */
export const booleanInAnyCase: Parser<boolean> = {
  ...trueOrFalse,
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

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const UNIT = Object.keys(NANOSECONDS).join('|');
const WHOLE_TEXT = new RegExp(`^[+-]?(?:0|(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:${UNIT}))+)$`);
const COMPONENT = new RegExp(`(\\d*)\\.?(\\d*)(${UNIT})`, 'g');
/** Go stores a duration as a signed 64-bit count of nanoseconds. */
const MAX_NANOSECONDS = 2n ** 63n - 1n;

function componentNanoseconds(whole: string, fraction: string, unit: string): bigint {
  const scale = NANOSECONDS[unit] ?? 0n;
  return (
    BigInt(whole || '0') * scale +
    (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length)
  );
}

/** Milliseconds (with fraction) of a duration as Go's time.ParseDuration reads it; undefined when it is invalid. */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE_TEXT.test(text)) return undefined;
  const isNegative = text.startsWith('-');
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(COMPONENT)) {
    total += componentNanoseconds(whole, fraction, unit);
  }
  if (total > MAX_NANOSECONDS + (isNegative ? 1n : 0n)) return undefined;
  const milliseconds = Number(total) / 1e6;
  return isNegative ? 0 - milliseconds : milliseconds;
}

interface DurationRange {
  /** Lower end, included; default `0`. */
  readonly min?: string;
  /** Upper end, included; default: none. */
  readonly max?: string;
}

/** A duration in milliseconds (with fraction); the ends of the range are durations too. */
export function duration(range: DurationRange = {}): Parser<number> {
  const min = range.min ?? '0';
  const { max } = range;
  const minMs = parseDuration(min) ?? 0;
  const maxMs = parseDuration(max ?? '') ?? Infinity;
  const ends = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return {
    expected: `a duration ${ends}, such as 150us, 10s or 1h30m`,
    parse: (text) => within(parseDuration(text), minMs, maxMs),
  };
}

/** Items separated by commas; white space around an item is dropped, an empty item refused. */
export function listOf<T>(item: Parser<T>, each: string): Parser<readonly T[]> {
  return {
    expected: `${each}, with commas between several`,
    parse: (text) => {
      const items = text.split(',').map((part) => item.parse(part.trim()));
      return items.includes(undefined) ? undefined : (items as T[]);
    },
  };
}

/** `<name><separator><value>` pairs separated by commas; the last of equal names counts. */
export function pairs(separator: ':' | '='): Parser<Readonly<Record<string, string>>> {
  return {
    expected: `<k1>${separator}<v1>,<k2>${separator}<v2>`,
    parse: (text) => {
      const entries: [string, string][] = [];
      for (const part of text.split(',')) {
        const at = part.indexOf(separator);
        const name = part.slice(0, Math.max(at, 0)).trim();
        if (name === '') return undefined;
        entries.push([name, part.slice(at + 1).trim()]);
      }
      return Object.fromEntries(entries);
    },
  };
}

/** `<k1>=<v1>,<k2>=<v2>` with URL-encoded values, as in OpenTelemetry's settings. */
export const headerPairs: Parser<Readonly<Record<string, string>>> = {
  expected: '<k1>=<v1>,<k2>=<v2> with URL-encoded values',
  parse: (text) => {
    const encoded = pairs('=').parse(text.trim().replace(/,$/, ''));
    if (encoded === undefined) return undefined;
    try {
      const entries = Object.entries(encoded);
      return Object.fromEntries(entries.map(([name, value]) => [name, decodeURIComponent(value)]));
    } catch {
      return undefined;
    }
  },
};
