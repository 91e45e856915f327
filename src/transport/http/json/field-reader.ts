import type { RequestBounds } from '../../../core/decision/request';
import { readList, sortOf, type Dialect, type Field } from '../../../fields/record';

/** A body that is not a request (`malformed`), or one beyond the bounds (`too_much`): the mistake and its place. */
export interface MalformedBody {
  readonly kind: 'malformed' | 'too_much';
  /** A lowercase sentence that names the place, the value and what was expected. */
  readonly message: string;
  /** Path of the value (`descriptors[0].entries[1].key`), `body` for the whole. */
  readonly where: string;
  /** Position in the text, counted from 1; only for a body that is not JSON. */
  readonly line?: number;
  readonly column?: number;
}

/** Leaves the reader; caught where the reading began. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
  readonly code = 'malformed_json';
  readonly body: MalformedBody;
  constructor(body: MalformedBody) {
    super(body.message);
    this.body = body;
  }
}

/** A value of the parsed body, and the path to it. */
export interface JsonField extends Field {
  readonly bounds: RequestBounds;
}

/** Leaves the reader. `reason` continues the path: `is a number, expected a string`. */
export function refuse(
  { path }: Pick<Field, 'path'>,
  reason: string,
  kind: MalformedBody['kind'] = 'malformed',
): never {
  const where = path === '' ? 'body' : path;
  throw new MalformedJson({ kind, message: `${where} ${reason}`, where });
}

/** Proto3 JSON: each field under its camelCase or snake_case name, nothing else; reading ends with the first mistake. */
export const PROTO_JSON: Dialect = {
  refuse: (path, reason) => refuse({ path }, reason),
  inKnownOrder: false,
  separator: '.',
  show: sortOf,
  noMap: (value) => `is ${sortOf(value)}, expected an object`,
  unknown: (name, known) => `has no field ${quoted(name)}, expected one of ${known.join(', ')}`,
  nameOf: (written) => written.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
};

/** Reads a list of at most `max` items, a bound that `setting` names. */
export function readBounded<Item>(
  field: JsonField,
  readItem: (field: JsonField) => Item,
  setting: string,
  max: number,
): readonly Item[] {
  if (Array.isArray(field.value) && field.value.length > max)
    refuse(field, `has more items than ${setting} (${String(max)})`, 'too_much');
  return readList(field, readItem);
}

/** Maximal length of a client's own text in a message. */
const MAX_QUOTED_LENGTH = 64;

/** A client's text, cut and escaped, for a message. */
export function quoted(text: string): string {
  const isLong = text.length > MAX_QUOTED_LENGTH;
  return JSON.stringify(isLong ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text);
}

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
