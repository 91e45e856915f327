import type { KnownNames } from '../request-maps/parse-map';
import { UnreadableLine } from './log-record';

const COMBINED =
  /^(\S+) \S+ (\S+) \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\S+)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/;

/** What nginx calls the groups of the pattern. */
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

/** What a line of the format has. */
export const COMBINED_NAMES: KnownNames = {
  fields: [...NAMES, ...OF_REQUEST],
  headers: ['referer', 'user-agent'],
};

/**
 * Takes a line of the combined (or common) log format apart, under the names that nginx has for the parts; `method`, `path` and
 * `protocol` are those of the request line. Throws `UnreadableLine`.
 */
export function readCombinedLine(line: string): Readonly<Record<string, string>> {
  const parts = COMBINED.exec(line);
  if (parts === null) throw new UnreadableLine('the line is not in the combined log format');
  const [, ...values] = parts;
  const [method, path, protocol] = (parts[4] ?? '').split(' ');
  const fields: Record<string, string> = {};
  const add = (name: string, value: string | undefined) => {
    // A dash stands for what the log does not know.
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
