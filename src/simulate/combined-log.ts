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
