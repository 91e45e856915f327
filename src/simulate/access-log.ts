import type { KnownNames } from '../request-maps/parse-map';
import { UnreadableLine } from './log-record';

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
