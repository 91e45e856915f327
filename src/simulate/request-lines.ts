import type { Entry, RequestDescriptor } from '../core/model';
import { isMap } from '../fields/record';
import { UnreadableLine, type LogRecord, readTime } from './log-record';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a line of requests: `{"time","domain","descriptors","hitsAddend"}`, where descriptors are lists of `[key, value]` as in the
 * decision log, or objects with `entries` as in a request on `/json`. `hits` of the decision log runs parallel to them; null: none
 * of its own.
 */
export function readRequestLine(line: string): LogRecord {
  const { time, domain, descriptors, hitsAddend = 0, hits } = parseObject(line);
  if (typeof domain !== 'string' || domain === '') {
    throw new UnreadableLine('"domain" is missing or not a string');
  }
  if (!Array.isArray(descriptors)) throw new UnreadableLine('"descriptors" is not a list');
  const own = Array.isArray(hits) ? hits : [];
  return {
    timeSeconds: readTime(time, typeof time === 'number' ? 'unix' : 'rfc3339'),
    request: {
      domain,
      descriptors: descriptors.map((descriptor, at) => readDescriptor(descriptor, own[at])),
      hitsAddend: readHits(hitsAddend, 'hitsAddend'),
    },
  };
}

/** Parses a line that holds one JSON object. */
export function parseObject(line: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new UnreadableLine('the line is not JSON');
  }
  if (isMap(value)) return value;
  throw new UnreadableLine('the line is not a JSON object');
}

function readDescriptor(descriptor: unknown, logged: unknown): RequestDescriptor {
  const isBare = Array.isArray(descriptor);
  const fields: Fields = isMap(descriptor) ? descriptor : {};
  const entries: unknown = isBare ? descriptor : fields['entries'];
  if (!Array.isArray(entries)) throw new UnreadableLine('a descriptor has no list of entries');
  const hits = readOwnHits(isBare ? logged : fields['hitsAddend']);
  const isNegativeHits = fields['isNegativeHits'] === true || (hits ?? 0) < 0;
  return {
    entries: entries.map(readEntry),
    limit: undefined,
    hits: hits && Math.abs(hits),
    isNegativeHits,
  };
}

/** The hits of one descriptor; undefined: those of the request. */
function readOwnHits(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const hits = Number(value);
  if (Number.isFinite(hits)) return hits;
  throw new UnreadableLine(`hits ${JSON.stringify(value)} are not a number`);
}

function readEntry(entry: unknown): Entry {
  const [key, value] = partsOf(entry);
  if (typeof key === 'string' && typeof value === 'string') return { key, value };
  throw new UnreadableLine('an entry is not a key and a value');
}

function partsOf(entry: unknown): readonly unknown[] {
  if (isMap(entry)) return [entry['key'], entry['value']];
  return Array.isArray(entry) ? entry : [];
}

function readHits(value: unknown, name: string): number {
  const hits = Number(value);
  if (Number.isInteger(hits) && hits >= 0) return hits;
  throw new UnreadableLine(`"${name}" is ${JSON.stringify(value)}, expected 0 or more`);
}
