import { describe, fail, peek, quoted, refuse, takeWord, type Cursor } from './cursor';

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A string; its escapes are resolved. A surrogate without its other half is not Unicode and is refused. */
export function readString(cursor: Cursor): string {
  if (peek(cursor) !== '"') return fail(cursor, `is ${describe(cursor)}, expected a string`);
  const { text } = cursor;
  const start = cursor.at;
  let isPlain = true;
  let at = start + 1;
  for (; ; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) break;
    if (code === 0x5c) {
      isPlain = false;
      at += 1;
    } else if (code < 0x20) {
      return fail(cursor, 'holds a control character that is not escaped', at);
    } else if (code >= 0xd800) {
      isPlain = false;
    } else if (Number.isNaN(code)) {
      return fail(cursor, 'is a string that does not end', start);
    }
  }
  cursor.at = at + 1;
  return isPlain ? text.slice(start + 1, at) : unescape(cursor, start);
}

/** A domain or a key of the request. */
export function readName(cursor: Cursor): string {
  return readText(cursor, 'MAX_NAME_BYTES', cursor.bounds.maxNameBytes);
}

/** The value of an entry. */
export function readValue(cursor: Cursor): string {
  return readText(cursor, 'MAX_VALUE_BYTES', cursor.bounds.maxValueBytes);
}

/** A text that outlives the body: a copy, since V8 makes of a slice a view that keeps the whole body alive. */
function readText(cursor: Cursor, setting: string, maxBytes: number): string {
  peek(cursor);
  const start = cursor.at;
  const text = readString(cursor);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    const reason = `has ${String(bytes)} bytes, more than ${setting} (${String(maxBytes)})`;
    refuse(cursor, reason, start);
  }
  return Buffer.from(text).toString();
}

/** The text between `start` and the cursor, quotes included, as the string that it stands for. */
function unescape(cursor: Cursor, start: number): string {
  let value: string;
  try {
    value = JSON.parse(cursor.text.slice(start, cursor.at)) as string;
  } catch {
    return fail(cursor, 'holds an escape that JSON does not know', start);
  }
  if (LONE_SURROGATE.test(value)) fail(cursor, 'holds half of a surrogate pair', start);
  return value;
}

export function readBoolean(cursor: Cursor): boolean {
  if (takeWord(cursor, 'true')) return true;
  if (takeWord(cursor, 'false')) return false;
  return fail(cursor, `is ${describe(cursor)}, expected true or false`);
}

/** The characters of a number. */
function readNumber(cursor: Cursor): string {
  peek(cursor);
  NUMBER.lastIndex = cursor.at;
  const [found] = NUMBER.exec(cursor.text) ?? [];
  if (found === undefined) return fail(cursor, 'is not a JSON number');
  cursor.at += found.length;
  return found;
}

/**
 * A whole number up to `max`, as a number or in a string (proto3 JSON). A bigint only above 2^53 - 1,
 * where a number would lose digits.
 */
export function readUnsigned(cursor: Cursor, max: bigint): number | bigint {
  const next = peek(cursor);
  const start = cursor.at;
  const isText = next === '"';
  if (!isText && !/[-0-9]/.test(next)) {
    return fail(cursor, `is ${describe(cursor)}, expected a whole number`);
  }
  const written = isText ? readString(cursor) : readNumber(cursor);
  const value = parseInteger(written);
  if (value !== undefined && value >= 0 && value <= max) return value;
  const shown = isText ? quoted(written) : quoted(written).slice(1, -1);
  return fail(cursor, `is ${shown}, expected a whole number from 0 to ${String(max)}`, start);
}

const MAX_INT32 = 2_147_483_647;
const MIN_INT32 = -2_147_483_648;

/** The number of an enum's value, by its name or as a number; numbers without a name are kept. */
export function readEnum(cursor: Cursor, numbers: ReadonlyMap<string, number>): number {
  const next = peek(cursor);
  const start = cursor.at;
  const names = `one of ${[...numbers.keys()].join(', ')}, or its number`;
  if (next === '"') {
    const name = readString(cursor);
    const number = numbers.get(name);
    return number ?? fail(cursor, `is ${quoted(name)}, expected ${names}`, start);
  }
  if (!/[-0-9]/.test(next)) return fail(cursor, `is ${describe(cursor)}, expected ${names}`);
  const written = readNumber(cursor);
  const value = parseInteger(written);
  if (typeof value === 'number' && value >= MIN_INT32 && value <= MAX_INT32) return value;
  return fail(cursor, `is ${quoted(written).slice(1, -1)}, expected ${names}`, start);
}

const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]{1,6}))?$/;
/** 2^64 has 20 digits: whatever is longer is above every limit that is asked for. */
const MAX_DIGITS = 40;

/**
 * The whole number that a JSON number stands for (`7`, `7.0`, `0.7e1`); undefined for a fraction, for
 * one of more than 40 digits and for anything else. A bigint only where a number would lose digits.
 */
export function parseInteger(text: string): number | bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const digits = wholeDigits(whole + fraction, Number(exponent) - fraction.length);
  if (digits === undefined) return undefined;
  const value = BigInt(digits) * (sign === '-' ? -1n : 1n);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** `digits` times ten to the power of `shift`, when that is whole and not too long. */
function wholeDigits(digits: string, shift: number): string | undefined {
  const significant = digits.replace(/^0+/, '');
  if (significant === '') return '0';
  if (significant.length + shift > MAX_DIGITS) return undefined;
  if (shift >= 0) return significant + '0'.repeat(shift);
  const cut = significant.length + shift;
  if (cut <= 0 || /[^0]/.test(significant.slice(cut))) return undefined;
  return significant.slice(0, cut);
}
