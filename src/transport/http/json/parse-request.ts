import type { RequestBounds } from '../../../core/decision/request';
import type { DecisionRequest, Entry, LimitOverride, RequestDescriptor } from '../../../core/model';
import { UNIT_NUMBERS } from '../../../core/units';
import {
  createCursor,
  type Cursor,
  describe,
  fail,
  type MalformedBody,
  MalformedJson,
  peek,
} from './cursor';
import { fieldsOf, readList, readMessage } from './message';
import { readBoolean, readEnum, readName, readUnsigned, readValue } from './scalars';

type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

const MAX_UINT32 = 4_294_967_295n;
const MAX_UINT64 = 18_446_744_073_709_551_615n;

/** WEEK has a number but no name in envoy.type.v3.RateLimitUnit; answers use the name, so it is taken. */
const UNITS = new Map([['UNKNOWN', 0], ...Object.entries(UNIT_NUMBERS)]);

const ENTRY = fieldsOf<Draft<Entry>>({
  key: (cursor, entry) => {
    entry.key = readName(cursor);
  },
  value: (cursor, entry) => {
    entry.value = readValue(cursor);
  },
});

const LIMIT = fieldsOf<Draft<LimitOverride>>({
  requestsPerUnit: (cursor, limit) => {
    limit.requestsPerUnit = readUint32(cursor);
  },
  unit: (cursor, limit) => {
    limit.unit = readEnum(cursor, UNITS);
  },
});

const DESCRIPTOR = fieldsOf<Draft<RequestDescriptor>>({
  entries: (cursor, descriptor) => {
    const max = cursor.bounds.maxEntries;
    descriptor.entries = readList(cursor, readEntry, { setting: 'MAX_DESCRIPTOR_ENTRIES', max });
  },
  limit: (cursor, descriptor) => {
    descriptor.limit = readMessage(cursor, LIMIT, { requestsPerUnit: 0, unit: 0 });
  },
  hitsAddend: (cursor, descriptor) => {
    descriptor.hits = readUnsigned(cursor, MAX_UINT64);
  },
  isNegativeHits: (cursor, descriptor) => {
    descriptor.isNegativeHits = readBoolean(cursor);
  },
});

const REQUEST = fieldsOf<Draft<DecisionRequest>>({
  domain: (cursor, request) => {
    request.domain = readName(cursor);
  },
  descriptors: (cursor, request) => {
    const max = cursor.bounds.maxDescriptors;
    request.descriptors = readList(cursor, readDescriptor, { setting: 'MAX_DESCRIPTORS', max });
  },
  hitsAddend: (cursor, request) => {
    request.hitsAddend = readUint32(cursor);
  },
});

function readEntry(cursor: Cursor): Entry {
  return readMessage(cursor, ENTRY, { key: '', value: '' });
}

function readDescriptor(cursor: Cursor): RequestDescriptor {
  return readMessage(cursor, DESCRIPTOR, {
    entries: [],
    limit: undefined,
    hits: undefined,
    isNegativeHits: false,
  });
}

function readUint32(cursor: Cursor): number {
  return Number(readUnsigned(cursor, MAX_UINT32));
}

/** Reads envoy.service.ratelimit.v3.RateLimitRequest in proto3 JSON. Whether it makes sense is not asked. */
export function parseRequest(text: string, bounds: RequestBounds): DecisionRequest | MalformedBody {
  const cursor = createCursor(text, bounds);
  try {
    if (peek(cursor) === '') fail(cursor, 'is empty, expected a RateLimitRequest as a JSON object');
    const request = readMessage(cursor, REQUEST, { domain: '', descriptors: [], hitsAddend: 0 });
    if (peek(cursor) !== '') fail(cursor, `goes on after the request: ${describe(cursor)}`);
    return request;
  } catch (error) {
    if (error instanceof MalformedJson) return error.body;
    throw error;
  }
}
