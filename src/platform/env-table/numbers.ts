import type { Parser } from './parser';

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

function within(value: number | undefined, least: number, most: number): number | undefined {
  return value !== undefined && value >= least && value <= most ? value : undefined;
}

/** A whole number in a range, both ends included; written as Go's strconv.ParseInt with base 0 takes it. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Parser<number> {
  const range =
    most === Number.MAX_SAFE_INTEGER
      ? `of at least ${String(least)}`
      : `from ${String(least)} to ${String(most)}`;
  return {
    expected: `a whole number ${range}`,
    parse: (text) => within(parseWhole(text), least, most),
  };
}

/** A decimal number in a range, both ends included; infinity and NaN are none. */
export function decimalNumber(least: number, most: number): Parser<number> {
  return {
    expected: `a number from ${String(least)} to ${String(most)}`,
    parse: (text) => within(DECIMAL.test(text) ? Number(text) : undefined, least, most),
  };
}
