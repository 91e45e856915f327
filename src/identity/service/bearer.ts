import type { IncomingMessage } from 'node:http';

/** The credential of a request (RFC 6750 §2). */
export type BearerCredential =
  | { readonly kind: 'token'; readonly token: string }
  /** No header, another scheme, or a token where it is not accepted. */
  | { readonly kind: 'none' }
  /** Two of them: which one is meant is unknown. */
  | { readonly kind: 'ambiguous' };

const NONE: BearerCredential = { kind: 'none' };
const AMBIGUOUS: BearerCredential = { kind: 'ambiguous' };
const SCHEME = /^bearer(?: +|$)/i;

/** Reads `Authorization: Bearer <token>`; the token may be any text. */
export function readBearer(request: IncomingMessage): BearerCredential {
  const [value = '', second] = headerValues(request, 'authorization');
  if (second !== undefined) return AMBIGUOUS;
  if (value === '') return NONE;
  if (hasAccessToken(request.url ?? '')) return AMBIGUOUS;
  const token = SCHEME.test(value) ? value.replace(SCHEME, '') : '';
  return token === '' ? NONE : { kind: 'token', token };
}

/** All values of a header, as in `headersDistinct`, without reading the others. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) values.push((rawHeaders[at + 1] ?? '').trim());
  }
  return values;
}

function hasAccessToken(url: string): boolean {
  const at = url.indexOf('?');
  return at >= 0 && new URLSearchParams(url.slice(at)).has('access_token');
}
