import { isIPv6 } from 'node:net';

/** The URI of a request, from a proxy or a request line. */
export interface RequestUri {
  /** Without the query, as proxies compare it; see `PathStyle`. */
  readonly path: string;
  /** The text after the first `?`, unchanged; undefined when there is none. */
  readonly query: string | undefined;
  /** For an absolute URI. */
  readonly scheme: string | undefined;
  readonly host: string | undefined;
}

/**
 * How paths are compared, always with percent codes decoded, slashes merged, `.` and `..` resolved: otherwise `/login`, `/%6cogin`
 * and `/x/../login` would be one page with three counters. `exact`: as nginx and Traefik do. `caddy`: ignoring case, and with a
 * trailing slash only where one is written, so that `/LOGIN` and `/login/.` are `/login`.
 */
export type PathStyle = 'exact' | 'caddy';

const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i;

/** Accepts any text. */
export function parseRequestUri(text: string): RequestUri {
  const bytes = BEYOND_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text;
  return parseUriBytes(bytes);
}

/** As above, for a string with one character per byte, as Node gives headers and URLs: codes and bytes make one character together. */
export function parseUriBytes(bytes: string): RequestUri {
  const [whole = '', scheme, authority] = ABSOLUTE.exec(bytes) ?? [];
  return {
    ...parseTarget(bytes.slice(whole.length), 'exact'),
    scheme: scheme?.toLowerCase(),
    host: authority === undefined ? undefined : normalizeHost(toText(authority)),
  };
}

const ORIGINAL = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(\/.*)$/is;

/**
 * `<scheme>://<the client's Host><the request's own URI>`, as ingress-nginx writes it into X-Original-URL. nginx allows no slash in
 * a Host and nearly everything else, so the URI begins at the first slash. Undefined where there is none.
 */
export function parseOriginalUrl(bytes: string): RequestUri | undefined {
  const [, scheme = '', authority = '', target] = ORIGINAL.exec(bytes) ?? [];
  if (target === undefined) return undefined;
  return {
    ...parseTarget(target, 'exact'),
    scheme: scheme.toLowerCase(),
    host: normalizeHost(toText(authority)),
  };
}

/** The path and the query of a request line, as bytes. Undefined where it is not one that a proxy forwards. */
export function parseForwardedUri(bytes: string, style: PathStyle): RequestUri | undefined {
  if (!/^[/?]/.test(bytes) && bytes !== '*') return undefined;
  return { ...parseTarget(bytes, style), scheme: undefined, host: undefined };
}

function parseTarget(bytes: string, style: PathStyle): Pick<RequestUri, 'path' | 'query'> {
  const hash = bytes.indexOf('#');
  const rest = hash === -1 ? bytes : bytes.slice(0, hash);
  const at = rest.indexOf('?');
  const path = at === -1 ? rest : rest.slice(0, at);
  return {
    path: path === '' ? '/' : normalizePath(path, style),
    query: at === -1 ? undefined : toText(rest.slice(at + 1)),
  };
}

/**
 * Normalizes a Host as nginx does, so that clients cannot write the same host in other ways: in lower case, without a colon and
 * what follows it and without a dot at the end; an IPv6 address in its shortest form.
 */
export function normalizeHost(authority: string): string {
  const [name = ''] = /^(?:\[[^\]]*\]?|[^:]*)/.exec(authority) ?? [];
  const url = `http://${name}`;
  if (name.startsWith('[') && URL.canParse(url)) return new URL(url).hostname;
  return name.replace(/\.$/, '').toLowerCase();
}

function normalizePath(bytes: string, style: PathStyle): string {
  if (!bytes.startsWith('/')) return toText(bytes);
  const isPlain = !/%|\/\/|\/\./.test(bytes);
  const text = toText(isPlain ? bytes : decodeCodes(bytes));
  if (style === 'exact') return isPlain ? text : resolved(text, /(?:^|\/)\.{0,2}$/);
  const lower = toLower(text);
  return isPlain ? lower : resolved(lower, /\/$/);
}

const CODES = /(?:%[0-9a-f]{2})+/gi;

/** Decodes percent codes to bytes; broken ones stay. */
function decodeCodes(bytes: string): string {
  return bytes.replace(CODES, (codes) =>
    Buffer.from(codes.replaceAll('%', ''), 'hex').toString('latin1'),
  );
}

/** @param directory the end of a path that keeps a slash at its end */
function resolved(path: string, directory: RegExp): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}${kept.length > 0 && directory.test(path) ? '/' : ''}`;
}

/** Letter by letter, as in Go: a whole string has special cases, a sigma at the end of a word, and two letters for one. */
function toLower(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  return Array.from(text, (letter) => (letter === '\u0130' ? 'i' : letter.toLowerCase())).join('');
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/** Bytes in UTF-8. */
export function toText(bytes: string): string {
  return BEYOND_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}

const ADDRESS = /^\[([^\]]*)\](?::\d*)?$/;
/** Letters of a name in a URI (RFC 3986 §3.2.2) but the comma, with which proxies join two headers. */
const LABEL = "[\\w~!$&'()*+;=%-]+";
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*\\.?(?::\\d*)?$`);

/**
 * Whether a `Host` is one host: a name, or an IPv6 address in brackets, and perhaps a port. `user@host`, `host..` and `a,b` would be
 * read in several ways, each with a counter of its own.
 */
export function isHost(text: string): boolean {
  const [, address] = ADDRESS.exec(text) ?? [];
  return address === undefined ? NAME.test(text) : isIPv6(address);
}
