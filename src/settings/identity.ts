import { address, host, listenAddress, listenPort } from '../platform/env-table/addresses';
import { oneOf, oneOfInAnyCase, path, word, duration, listOf } from '../platform/env-table/parsers';
import type { TableReading } from '../platform/env-table/read-table';
import type { Parser } from '../platform/env-table/setting';
import { NETWORK_EXPECTED, parseNetwork, type Network } from '../platform/proxy-hops';
import { setting } from './setting';

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
  host: setting('IDENTITY_HOST', host, {
    default: '0.0.0.0',
    doc: 'address of the identity service',
  }),
  port: setting('IDENTITY_PORT', listenPort, {
    default: '8082',
    doc: 'port of the identity service',
  }),
  metricsAddress: setting('IDENTITY_METRICS_ADDR', listenAddress, {
    doc: 'where the identity service serves /metrics and /healthcheck, for operators only',
    whenUnset: 'nowhere',
  }),
  corsOrigins: setting('IDENTITY_CORS_ORIGINS', listOf(word, 'an origin'), {
    doc: 'origins whose pages may call the identity service',
    whenUnset: 'none',
  }),
  trustedProxies: setting('IDENTITY_TRUSTED_PROXIES', listOf(network, NETWORK_EXPECTED), {
    doc: 'proxies whose X-Forwarded-For the identity service trusts',
    whenUnset: 'none',
  }),
  userinfoProfile: setting('IDENTITY_USERINFO_PROFILE', oneOf('documented', 'full'), {
    default: 'documented',
    doc: 'full adds the fields that strict published clients want',
  }),
  store: setting(
    'IDENTITY_STORE',
    oneOfInAnyCase({ embedded: 'embedded', kvstore: 'kvstore', redis: 'kvstore' }),
    { default: 'embedded', doc: 'where users and sessions live: embedded (a file) or kvstore' },
  ),
  storeFile: setting('IDENTITY_STORE_FILE', path, {
    default: 'identity-store.json',
    doc: 'embedded: the file',
  }),
  jwtIssuer: setting('IDENTITY_JWT_ISSUER', word, {
    doc: 'accepts JWT access tokens of this issuer (iss) too; needs an audience and a key set',
    whenUnset: 'JWTs are refused',
  }),
  jwtAudience: setting('IDENTITY_JWT_AUDIENCE', word, {
    doc: 'JWT: what their aud must name',
  }),
  jwksUrl: setting('IDENTITY_JWT_JWKS_URL', httpUrl, {
    doc: 'JWT: where the key set of the issuer is',
  }),
  jwksFile: setting('IDENTITY_JWT_JWKS_FILE', path, {
    doc: 'JWT: the key set as a file, instead of an address',
  }),
  rateLimit: setting('IDENTITY_RATELIMIT', oneOf('process', 'grpc', 'json', 'off'), {
    default: 'process',
    doc: 'who decides limits: process (the rules of RUNTIME_*, in the identity service), a decision service by grpc or json, or none (off)',
  }),
  rateLimitAddress: setting('IDENTITY_RATELIMIT_ADDRESS', address, {
    doc: 'grpc and json: the decision service',
    whenUnset: 'localhost:8081 for grpc, localhost:8080 for json',
  }),
  rateLimitTimeoutMs: setting('IDENTITY_RATELIMIT_TIMEOUT', duration({ min: '1ms', max: '10s' }), {
    default: '250ms',
    doc: 'longest time for one decision',
  }),
  rateLimitFailure: setting('IDENTITY_RATELIMIT_FAILURE', oneOf('allow', 'deny'), {
    default: 'allow',
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
    reading.diagnostics.problems.push(
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
