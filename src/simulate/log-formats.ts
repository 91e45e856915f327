import type { KnownNames } from '../request-maps/request-map';
import { UnreadableLine, type LogRecord, readTime } from './log-record';
import type { Entry, RequestDescriptor } from '../core/model';
import { isMap } from '../fields/record';

const COMBINED =
  /^(\S+) \S+ (\S+) \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\S+)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/;

/** nginx' names for the groups of the pattern. */
const NAMES = [
  'remote_addr',
  'remote_user',
  'time_local',
  'request',
  'status',
  'body_bytes_sent',
  'http_referer',
  'http_user_agent',
];

const OF_REQUEST = ['method', 'path', 'protocol', 'query', 'remote_address'];

/** The fields of a line in this format. */
export const COMBINED_NAMES: KnownNames = {
  fields: [...NAMES, ...OF_REQUEST],
  headers: ['referer', 'user-agent'],
};

/**
 * Splits a line of the combined (or common) log format into fields with the names of nginx; `method`, `path` and `protocol` are
 * parts of the request line. Throws `UnreadableLine`.
 */
export function readCombinedLine(line: string): Readonly<Record<string, string>> {
  const parts = COMBINED.exec(line);
  if (parts === null) throw new UnreadableLine('the line is not in the combined log format');
  const [, ...values] = parts;
  const [method, path, protocol] = (parts[4] ?? '').split(' ');
  const fields: Record<string, string> = {};
  const add = (name: string, value: string | undefined) => {
    // The log writes a dash for an unknown value.
    if (value !== undefined && value !== '-') fields[name] = value;
  };
  NAMES.forEach((name, at) => {
    add(name, values[at]);
  });
  add('method', method);
  add('path', path);
  add('protocol', protocol);
  return fields;
}

/** One text format: the pattern of a line, and the names of its groups. */
interface TextFormat {
  readonly known: KnownNames;
  readonly toFields: (line: string) => Readonly<Record<string, string>>;
}

/** Envoy writes headers as they came: only the user agent may contain quotes here, as the widest of the quoted strings. */
const QUOTED = '"([^"]*)"';
const START = String.raw`^\[([^\]\s]+)\] "(\S+) (\S+) (\S+)" (\d+) (\S+)`;
const COUNTS = String.raw`(\d+|-) (\d+|-) (\d+|-) (\d+|-)`;
const HEADERS = `${QUOTED} "(.*)" ${QUOTED} ${QUOTED} ${QUOTED}`;

const OF_START = ['start_time', 'method', 'path', 'protocol', 'response_code', 'response_flags'];
const OF_COUNTS = ['bytes_received', 'bytes_sent', 'duration', 'upstream_service_time'];
const OF_HEADERS = ['x_forwarded_for', 'user_agent', 'request_id', 'authority', 'upstream_host'];
const OF_ISTIO = [
  'upstream_cluster',
  'upstream_local_address',
  'downstream_local_address',
  'downstream_remote_address',
  'requested_server_name',
  'route_name',
];

/** The headers of a line, by the line's own names for them. */
const HEADER_FIELDS: Readonly<Record<string, string>> = {
  'x-forwarded-for': 'x_forwarded_for',
  'user-agent': 'user_agent',
  'x-request-id': 'request_id',
};

function textFormat(
  name: string,
  pattern: string,
  names: readonly string[],
  others: readonly string[],
): TextFormat {
  const line = new RegExp(pattern);
  const toFields: TextFormat['toFields'] = (text) => {
    const parts = line.exec(text.trimEnd());
    if (parts === null)
      throw new UnreadableLine(`the line is not in the default format of ${name}`);
    const fields: Record<string, string> = {};
    names.forEach((field, at) => {
      const value = parts[at + 1];
      // The log writes a dash for an unknown value.
      if (value !== undefined && value !== '-') fields[field] = value;
    });
    for (const [header, field] of Object.entries(HEADER_FIELDS)) {
      const value = fields[field];
      if (value !== undefined) fields[header] = value;
    }
    return fields;
  };
  const fields = [...names, 'query', 'host', ...others];
  return { known: { fields, headers: Object.keys(HEADER_FIELDS) }, toFields };
}

/** Lines of Envoy's default format, with Istio's names for the same parts in its JSON log. */
export const ENVOY_TEXT = textFormat(
  'Envoy',
  `${START} ${COUNTS} ${HEADERS}$`,
  [...OF_START, ...OF_COUNTS, ...OF_HEADERS],
  [],
);

/** Lines of Istio's default format (accessLogEncoding: TEXT). */
export const ISTIO_TEXT = textFormat(
  'Istio',
  String.raw`${START} (\S+) (\S+) ${QUOTED} ${COUNTS} ${HEADERS} (\S+) (\S+) (\S+) (\S+) (\S+) (.*)$`,
  [
    ...OF_START,
    'response_code_details',
    'connection_termination_details',
    'upstream_transport_failure_reason',
    ...OF_COUNTS,
    ...OF_HEADERS,
    ...OF_ISTIO,
  ],
  ['remote_address'],
);

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
