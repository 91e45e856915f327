import type { RequestBounds } from '../../../core/decision/request';
import type { DecisionRequest, Entry, LimitOverride, RequestDescriptor } from '../../../core/model';
import { UNIT_NUMBERS } from '../../../core/units';
import { recordOf } from '../../../fields/record';
import {
  MalformedJson,
  PROTO_JSON,
  readBounded,
  refuse,
  type JsonField,
  type MalformedBody,
  readBoolean,
  readEnum,
  readText,
  readUnsigned,
} from './field-reader';

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
