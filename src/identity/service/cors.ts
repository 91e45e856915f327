import type { IncomingMessage } from 'node:http';

type Headers = Readonly<Record<string, string>>;

const EXPOSED =
  'X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, WWW-Authenticate';
const PREFLIGHT_SECONDS = 600;

/** CORS for the origins that IDENTITY_CORS_ORIGINS names (`*`: all); credentials are headers, never cookies. */
export function createCors(origins: readonly string[], methods: string) {
  const all = origins.includes('*');
  const allowed = new Set(origins);

  const headers = (request: IncomingMessage): Headers => {
    if (origins.length === 0) return {};
    if (all)
      return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };
    const { origin } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return { Vary: 'Origin' };
    return {
      Vary: 'Origin',
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': EXPOSED,
    };
  };
  return {
    /** What every answer to this request says about origins; nothing while CORS is off. */
    headers,
    /** Further headers of the answer to a preflight. */
    preflight(request: IncomingMessage) {
      if (headers(request)['Access-Control-Allow-Origin'] === undefined) return {};
      return {
        'Access-Control-Allow-Methods': methods,
        'Access-Control-Allow-Headers': 'Authorization, X-API-Key, X-Request-Id',
        'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
      };
    },
  };
}
