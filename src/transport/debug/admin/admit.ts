import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { refusedWith, type AdminAnswer } from './admin-router';
import { isIP } from 'node:net';

/** Checks the credentials of a call; the id of its token, or undefined when it has none or a wrong one. */
export type CheckToken = (authorization: string | undefined) => Promise<string | undefined>;

interface AdmissionOptions {
  /** Whether the port is served under this Host. */
  readonly isHost: (host: string | undefined) => boolean;
  /** Names whose pages may call, in lower case (ADMIN_HOSTS). */
  readonly hosts: ReadonlySet<string>;
}

/** Why the headers show that a page of a foreign site made the call; undefined when they do not. */
export function refuseForeign(
  headers: IncomingHttpHeaders,
  { isHost, hosts }: AdmissionOptions,
): AdminAnswer | undefined {
  const { host, origin } = headers;
  if (!isHost(host)) {
    const expected = 'expected an address, localhost, a name of one label, or one of ADMIN_HOSTS';
    return refusedWith(403, 'foreign_host', `host ${shown(host)} is not served here, ${expected}`);
  }
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === 'same-origin' || (origin === undefined && (site ?? 'none') === 'none');
  if (isOwnSite || isKnownOrigin(origin, host, hosts)) return undefined;
  const error = `the origin ${shown(origin ?? String(site))} may not call this, expected this host or one of ADMIN_HOSTS`;
  return refusedWith(403, 'foreign_origin', error);
}

function isKnownOrigin(
  origin: string | undefined,
  host: string | undefined,
  hosts: ReadonlySet<string>,
): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  return (url.host !== '' && url.host === host?.toLowerCase()) || hosts.has(url.hostname);
}

export const NO_TOKEN: AdminAnswer = refusedWith(
  401,
  'no_token',
  'expected Authorization: Bearer with the token of ADMIN_TOKEN_FILE, or Basic with it as the password',
);

/** Makes a browser ask its user for credentials. */
export const CHALLENGE = 'Basic realm="weir", charset="UTF-8"';

function shown(text = ''): string {
  return JSON.stringify(text.slice(0, 200));
}

/** Pages that start work which continues for a while. */
const STARTING = /^\/debug\/pprof\/[^?]|^\/ui\/events/;

/**
 * Whether a page of another site makes this call. Links from such a page may be followed, for example to `/ui`, to pages that start
 * nothing.
 */
export function isForeign(request: IncomingMessage, admission: AdmissionOptions): boolean {
  const { headers, url = '' } = request;
  if (refuseForeign(headers, admission) === undefined) return false;
  const isLink =
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    headers.origin === undefined;
  return !isLink || STARTING.test(url);
}

const HOST = /^(\[[^\]]*\]|[^:]*)(?::[0-9]*)?$/;

/**
 * Decides which Host headers are served on a port without credentials. A web page can make its own name resolve to this port (DNS
 * rebinding) and read the answers; it cannot do so with an address, `localhost`, or a name of one label, which no public DNS
 * serves. `further` names are allowed too, in any case, without a port. A missing header (HTTP/1.0) counts as a foreign one.
 */
export function createHostCheck(further: readonly string[]): (host: string | undefined) => boolean {
  const allowed = new Set(further.map((name) => name.toLowerCase()));
  return (host = '') => {
    const [, bracketed = ''] = HOST.exec(host) ?? [];
    const name = bracketed.replace(/^\[(.*)\]$/, '$1').toLowerCase();
    if (name === '') return false;
    return isIP(name) !== 0 || !name.includes('.') || allowed.has(name);
  };
}
