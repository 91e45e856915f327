import type { RequestBounds } from '../../core/decision/request';
import { readList, sortOf, type Dialect, type Field, recordOf } from '../../fields/record';
import type { DecisionRequest, Entry, LimitOverride, RequestDescriptor } from '../../core/model';
import { UNIT_NUMBERS } from '../../core/units';

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
class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
  readonly code = 'malformed_json';
  readonly body: MalformedBody;
  constructor(body: MalformedBody) {
    super(body.message);
    this.body = body;
  }
}

/** A value of the parsed body, and the path to it. */
interface JsonField extends Field {
  readonly bounds: RequestBounds;
}

/** Leaves the reader. `reason` continues the path: `is a number, expected a string`. */
function refuse(
  { path }: Pick<Field, 'path'>,
  reason: string,
  kind: MalformedBody['kind'] = 'malformed',
): never {
  const where = path === '' ? 'body' : path;
  throw new MalformedJson({ kind, message: `${where} ${reason}`, where });
}

/** Proto3 JSON: each field under its camelCase or snake_case name, nothing else; reading ends with the first mistake. */
const PROTO_JSON: Dialect = {
  refuse: (path, reason) => refuse({ path }, reason),
  inKnownOrder: false,
  separator: '.',
  show: sortOf,
  noMap: (value) => `is ${sortOf(value)}, expected an object`,
  unknown: (name, known) => `has no field ${quoted(name)}, expected one of ${known.join(', ')}`,
  nameOf: (written) => written.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
};

/** Reads a list of at most `max` items, a bound that `setting` names. */
function readBounded<Item>(
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
function quoted(text: string): string {
  const isLong = text.length > MAX_QUOTED_LENGTH;
  return JSON.stringify(isLong ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** A string of at most `max` bytes of UTF-8, a bound that `setting` names. A lone surrogate has no UTF-8 and is refused. */
function readText(field: Field, setting: string, max: number): string {
  const { value } = field;
  if (typeof value !== 'string') return refuse(field, `is ${sortOf(value)}, expected a string`);
  if (LONE_SURROGATE.test(value)) return refuse(field, 'holds half of a surrogate pair');
  const bytes = Buffer.byteLength(value);
  if (bytes <= max) return value;
  const reason = `has ${String(bytes)} bytes, more than ${setting} (${String(max)})`;
  return refuse(field, reason, 'too_much');
}

function readBoolean(field: Field): boolean {
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
function readUnsigned(field: Field, max: bigint): number | bigint {
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
function readEnum(field: Field, numbers: ReadonlyMap<string, number>): number {
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

const MAX_UINT32 = 4_294_967_295n;
const MAX_UINT64 = 18_446_744_073_709_551_615n;

/** WEEK has a number but no name in envoy.type.v3.RateLimitUnit; answers use the name, so it is accepted. */
const UNITS = new Map([['UNKNOWN', 0], ...Object.entries(UNIT_NUMBERS)]);

const readName = (field: JsonField) => readText(field, 'MAX_NAME_BYTES', field.bounds.maxNameBytes);
const readUint32 = (field: JsonField) => Number(readUnsigned(field, MAX_UINT32));

const readEntry = recordOf<Entry, JsonField>(
  {
    key: readName,
    value: (field) => readText(field, 'MAX_VALUE_BYTES', field.bounds.maxValueBytes),
  },
  { key: '', value: '' },
);

const readLimit = recordOf<LimitOverride, JsonField>(
  { requestsPerUnit: readUint32, unit: (field) => readEnum(field, UNITS) },
  { requestsPerUnit: 0, unit: 0 },
);

/** With the field names of JSON. */
interface DescriptorMessage extends Omit<RequestDescriptor, 'hits'> {
  readonly hitsAddend: RequestDescriptor['hits'];
}

const readMessage = recordOf<DescriptorMessage, JsonField>(
  {
    entries: (field) =>
      readBounded(field, readEntry, 'MAX_DESCRIPTOR_ENTRIES', field.bounds.maxEntries),
    limit: readLimit,
    hitsAddend: (field) => readUnsigned(field, MAX_UINT64),
    isNegativeHits: readBoolean,
  },
  { entries: [], limit: undefined, hitsAddend: undefined, isNegativeHits: false },
);

function readDescriptor(field: JsonField): RequestDescriptor {
  const { hitsAddend, ...descriptor } = readMessage(field);
  return { ...descriptor, hits: hitsAddend };
}

const readRequest = recordOf<DecisionRequest, JsonField>(
  {
    domain: readName,
    descriptors: (field) =>
      readBounded(field, readDescriptor, 'MAX_DESCRIPTORS', field.bounds.maxDescriptors),
    hitsAddend: readUint32,
  },
  { domain: '', descriptors: [], hitsAddend: 0 },
);

/** Reads envoy.service.ratelimit.v3.RateLimitRequest in proto3 JSON. Its validity is checked later. */
export function parseRequest(text: string, bounds: RequestBounds): DecisionRequest | MalformedBody {
  const body = { path: '', dialect: PROTO_JSON, bounds };
  try {
    if (text.trim() === '') refuse(body, 'is empty, expected a RateLimitRequest as a JSON object');
    if (countOpened(text) > maxOpened(bounds)) {
      refuse(body, tooManyOpened(bounds), 'too_much');
    }
    return readRequest({ ...body, value: parseJson(text) });
  } catch (error) {
    if (error instanceof MalformedJson) return error.body;
    throw error;
  }
}

/** A descriptor has at most itself, its limit, its list of entries and the entries. */
function maxOpened({ maxDescriptors, maxEntries }: RequestBounds): number {
  return 2 + maxDescriptors * (3 + maxEntries);
}

function tooManyOpened({ maxDescriptors, maxEntries }: RequestBounds): string {
  const settings = `MAX_DESCRIPTORS (${String(maxDescriptors)}) and MAX_DESCRIPTOR_ENTRIES (${String(maxEntries)})`;
  return `has more objects and lists than ${settings} allow`;
}

/**
 * The number of objects and lists that a text opens outside of its strings. Counted before parsing: a body of 1 MiB can contain
 * half a million, at fifty times its size.
 */
function countOpened(text: string): number {
  let opened = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) isString = !isString;
    else if (isString) at += code === 0x5c ? 1 : 0;
    else if (code === 0x7b || code === 0x5b) opened += 1;
  }
  return opened;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const offset = offsetOf(error as SyntaxError, text);
    if (offset === undefined) return refuse({ path: '' }, 'is not JSON');
    const before = text.slice(0, offset);
    const line = before.split('\n').length;
    const column = before.length - before.lastIndexOf('\n');
    const message = `body is not JSON: line ${String(line)}, column ${String(column)}`;
    throw new MalformedJson({ kind: 'malformed', message, where: 'body', line, column });
  }
}

/** The first invalid character, where Node's message contains it. */
function offsetOf({ message }: SyntaxError, text: string): number | undefined {
  if (message.includes('end of JSON')) return text.length;
  const [, offset] = /position (\d+)/.exec(message) ?? [];
  return offset === undefined ? undefined : Number(offset);
}
