import { address, host, listenAddress, listenPort } from '../platform/env-table/addresses';
import { oneOf, synonyms, path, word, duration, listOf } from '../platform/env-table/parsers';
import type { TableReading, Parser } from '../platform/env-table/table';
import { NETWORK_EXPECTED, parseNetwork, type Network } from '../platform/proxy-hops';
import { optional, setting } from './setting';

const network: Parser<Network> = { expected: NETWORK_EXPECTED, parse: parseNetwork };

const httpUrl: Parser<string> = {
  expected: 'an http or https address without credentials',
  parse: (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
    return isHttp && url.username === '' && url.password === '' ? text : undefined;
  },
};

export const identityTable = {
  host: setting('IDENTITY_HOST', host, '0.0.0.0', { doc: 'address of the identity service' }),
  port: setting('IDENTITY_PORT', listenPort, '8082', { doc: 'port of the identity service' }),
  metricsAddress: optional('IDENTITY_METRICS_ADDR', listenAddress, 'nowhere', {
    doc: 'where the identity service serves /metrics and /healthcheck, for operators only',
  }),
  corsOrigins: optional('IDENTITY_CORS_ORIGINS', listOf(word, 'an origin'), 'none', {
    doc: 'origins whose pages may call the identity service',
  }),
  trustedProxies: optional('IDENTITY_TRUSTED_PROXIES', listOf(network, NETWORK_EXPECTED), 'none', {
    doc: 'proxies whose X-Forwarded-For the identity service trusts',
  }),
  userinfoProfile: setting('IDENTITY_USERINFO_PROFILE', oneOf('documented', 'full'), 'documented', {
    doc: 'full adds the fields that strict published clients want',
  }),
  store: setting(
    'IDENTITY_STORE',
    synonyms({ embedded: 'embedded', kvstore: 'kvstore', redis: 'kvstore' }),
    'embedded',
    { doc: 'where users and sessions live: embedded (a file) or kvstore' },
  ),
  storeFile: setting('IDENTITY_STORE_FILE', path, 'identity-store.json', {
    doc: 'embedded: the file',
  }),
  jwtIssuer: optional('IDENTITY_JWT_ISSUER', word, 'JWTs are refused', {
    doc: 'accepts JWT access tokens of this issuer (iss) too; needs an audience and a key set',
  }),
  jwtAudience: optional('IDENTITY_JWT_AUDIENCE', word, 'unset', {
    doc: 'JWT: what their aud must name',
  }),
  jwksUrl: optional('IDENTITY_JWT_JWKS_URL', httpUrl, 'unset', {
    doc: 'JWT: where the key set of the issuer is',
  }),
  jwksFile: optional('IDENTITY_JWT_JWKS_FILE', path, 'unset', {
    doc: 'JWT: the key set as a file, instead of an address',
  }),
  rateLimit: setting('IDENTITY_RATELIMIT', oneOf('process', 'grpc', 'json', 'off'), 'process', {
    doc: 'who decides limits: process (the rules of RUNTIME_*, in the identity service), a decision service by grpc or json, or none (off)',
  }),
  rateLimitAddress: optional(
    'IDENTITY_RATELIMIT_ADDRESS',
    address,
    'localhost:8081 for grpc, localhost:8080 for json',
    { doc: 'grpc and json: the decision service' },
  ),
  rateLimitTimeoutMs: setting(
    'IDENTITY_RATELIMIT_TIMEOUT',
    duration({ min: '1ms', max: '10s' }),
    '250ms',
    { doc: 'longest time for one decision' },
  ),
  rateLimitFailure: setting('IDENTITY_RATELIMIT_FAILURE', oneOf('allow', 'deny'), 'allow', {
    doc: 'what happens to a call while decisions are unreachable: allow it, or deny it with 503',
  }),
};

/** @param redisExpected the missing settings of the stores for Redis; undefined: none. */
export function toIdentity(
  reading: TableReading<typeof identityTable>,
  redisExpected: string | undefined,
) {
  const { values } = reading;
  const { jwtIssuer: issuer, jwtAudience: audience, jwksUrl, jwksFile } = values;
  const given = [issuer, audience, jwksUrl ?? jwksFile];
  const keys = toKeys(jwksUrl, jwksFile);
  const isWhole = issuer !== undefined && audience !== undefined && keys !== undefined;
  if (!isWhole && given.some((value) => value !== undefined))
    reading.problem(
      'IDENTITY_JWT_ISSUER, IDENTITY_JWT_AUDIENCE and one of IDENTITY_JWT_JWKS_URL and IDENTITY_JWT_JWKS_FILE: expected all of them or none',
    );
  const lacksStore = values.store === 'kvstore' && redisExpected !== undefined;
  return {
    ...values,
    jwt: isWhole ? { issuer, audience, keys } : undefined,
    // A mistake for the identity service only.
    storeProblem: lacksStore
      ? `${reading.describe('store')}: expected ${redisExpected}`
      : undefined,
  };
}

export type IdentitySettings = ReturnType<typeof toIdentity>;
/** How JWT access tokens are checked. */
export type JwtSettings = NonNullable<IdentitySettings['jwt']>;

function toKeys(url: string | undefined, file: string | undefined) {
  if (url !== undefined) return file === undefined ? ({ kind: 'url', url } as const) : undefined;
  return file === undefined ? undefined : ({ kind: 'file', file } as const);
}
