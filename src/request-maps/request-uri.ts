import { decodePercent } from './named-parts';

/** What a request asks for, as a proxy or a request line says it. */
export interface RequestUri {
  /** Without the query, as proxies compare it; see `normalizePath`. */
  readonly path: string;
  /** What follows the first `?`, as it is written; undefined when there is none. */
  readonly query: string | undefined;
  /** Of an absolute URI. */
  readonly scheme: string | undefined;
  readonly host: string | undefined;
}

const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i;

/** Takes any text. */
export function parseRequestUri(text: string): RequestUri {
  const [whole = '', scheme, authority] = ABSOLUTE.exec(text) ?? [];
  const [rest = ''] = text.slice(whole.length).split('#', 1);
  const at = rest.indexOf('?');
  const path = at === -1 ? rest : rest.slice(0, at);
  return {
    path: path === '' ? '/' : normalizePath(path),
    query: at === -1 ? undefined : rest.slice(at + 1),
    scheme: scheme?.toLowerCase(),
    host: authority === undefined ? undefined : normalizeHost(authority),
  };
}

/** In lower case, without a port, so that clients cannot write the same host in other ways. */
export function normalizeHost(authority: string): string {
  return authority.replace(/:\d*$/, '').toLowerCase();
}

/**
 * A path as nginx, Caddy and Traefik compare it: percent codes decoded, slashes merged, `.` and `..` resolved. Otherwise `/login`,
 * `/%6cogin` and `/x/../login` would be one page with three counters.
 */
function normalizePath(path: string): string {
  if (!path.startsWith('/') || !/%|\/\/|\/\./.test(path)) return path;
  const kept: string[] = [];
  const segments = decodePercent(path).split('/');
  const last = segments.at(-1) as string;
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const isDirectory = kept.length > 0 && ['', '.', '..'].includes(last);
  return `/${kept.join('/')}${isDirectory ? '/' : ''}`;
}
