/** The first cookie with a name, without quotes around its value; undefined when there is none, or an empty one. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  return findPart(header, { name, separator: ';', read: unquoted });
}

/** The first parameter with a name in a query, decoded; undefined when there is none, or an empty one. */
export function parameterOf(query: string | undefined, name: string): string | undefined {
  return findPart(query, { name, separator: '&', read: decodeForm });
}

interface PartWanted {
  readonly name: string;
  readonly separator: string;
  readonly read: (written: string) => string;
}

/** Visits `name=value` parts one by one: a client may write thousands of them. */
function findPart(
  text: string | undefined,
  { name, separator, read }: PartWanted,
): string | undefined {
  if (text === undefined) return undefined;
  let start = 0;
  while (start <= text.length) {
    const next = text.indexOf(separator, start);
    const end = next === -1 ? text.length : next;
    const part = text.slice(start, end);
    const equals = part.indexOf('=');
    const written = equals === -1 ? part : part.slice(0, equals);
    if (read(written.trim()) === name) {
      const value = equals === -1 ? '' : read(part.slice(equals + 1).trim());
      return value === '' ? undefined : value;
    }
    start = end + 1;
  }
  return undefined;
}

function unquoted(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"')
    ? value.slice(1, -1)
    : value;
}

function decodeForm(written: string): string {
  return decodePercent(written.replaceAll('+', ' '));
}

const CODES = /(?:%[0-9a-f]{2})+/gi;

/** Decodes percent codes to bytes, in UTF-8; broken codes stay, bytes that are not UTF-8 become U+FFFD. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(CODES, (codes) => Buffer.from(codes.replaceAll('%', ''), 'hex').toString());
}
