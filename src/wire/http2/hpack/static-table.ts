import { FIELD_OVERHEAD, fieldKind, kindForReader, type HeaderField } from './header-field';

/** RFC 7541, Appendix A, from index 1 on; the value follows the first blank. */
const FIELDS = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`;

/** By index minus one. */
export const STATIC_TABLE: readonly HeaderField[] = FIELDS.split('\n').map(toField);
export const STATIC_TABLE_LENGTH = STATIC_TABLE.length;

function toField(line: string): HeaderField {
  const blank = line.indexOf(' ');
  const name = blank < 0 ? line : line.slice(0, blank);
  const value = blank < 0 ? '' : line.slice(blank + 1);
  const size = name.length + value.length + FIELD_OVERHEAD;
  return { name, value, kind: fieldKind(name), isValidValue: true, size, derived: undefined };
}

/** The static table for a reader of these names only (undefined: all). */
export function staticTableFor(readNames: ReadonlySet<string> | undefined): readonly HeaderField[] {
  return STATIC_TABLE.map((field) => {
    return { ...field, kind: kindForReader(field.kind, field.name, readNames) };
  });
}
