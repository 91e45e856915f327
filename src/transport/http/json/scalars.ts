import { sortOf, type Field } from '../../../fields/record';
import { quoted, refuse } from './field-reader';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** A string of at most `max` bytes of UTF-8, a bound that `setting` names. A lone surrogate has no UTF-8 and is refused. */
export function readText(field: Field, setting: string, max: number): string {
  const { value } = field;
  if (typeof value !== 'string') return refuse(field, `is ${sortOf(value)}, expected a string`);
  if (LONE_SURROGATE.test(value)) return refuse(field, 'holds half of a surrogate pair');
  const bytes = Buffer.byteLength(value);
  if (bytes <= max) return value;
  const reason = `has ${String(bytes)} bytes, more than ${setting} (${String(max)})`;
  return refuse(field, reason, 'too_much');
}

export function readBoolean(field: Field): boolean {
  const { value } = field;
  if (typeof value === 'boolean') return value;
  return refuse(field, `is ${sortOf(value)}, expected true or false`);
}

const WHOLE = /^-?(?:0|[1-9][0-9]{0,39})$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;

/**
 * A whole number up to `max`, as a number or in a string (proto3 JSON). A bigint only above 2^53 - 1, where it must be written as a
 * string to keep its last digits.
 */
export function readUnsigned(field: Field, max: bigint): number | bigint {
  const { value } = field;
  if (typeof value !== 'number' && typeof value !== 'string') {
    return refuse(field, `is ${sortOf(value)}, expected a whole number`);
  }
  const whole = toWhole(value);
  if (whole !== undefined && whole >= 0 && whole <= max) return whole;
  return refuse(field, `is ${shown(value)}, expected a whole number from 0 to ${String(max)}`);
}

/** The whole number; undefined for anything else. */
function toWhole(value: number | string): number | bigint | undefined {
  if (typeof value === 'string') {
    if (!NUMBER.test(value)) return undefined;
    return WHOLE.test(value) ? shorten(BigInt(value)) : toWhole(Number(value));
  }
  return Number.isInteger(value) ? shorten(BigInt(value)) : undefined;
}

function shorten(whole: bigint): number | bigint {
  const number = Number(whole);
  return Number.isSafeInteger(number) ? number : whole;
}

const MAX_INT32 = 2_147_483_647;
const MIN_INT32 = -2_147_483_648;

/** The number of an enum's value, by its name or as a number; numbers without a name are kept. */
export function readEnum(field: Field, numbers: ReadonlyMap<string, number>): number {
  const { value } = field;
  const number = typeof value === 'string' ? numbers.get(value) : value;
  const isNumber = typeof number === 'number' && Number.isInteger(number);
  if (isNumber && number >= MIN_INT32 && number <= MAX_INT32) return number;
  const names = `one of ${[...numbers.keys()].join(', ')}, or its number`;
  return refuse(field, `is ${shown(value)}, expected ${names}`);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'number' ? String(value) : sortOf(value);
}
