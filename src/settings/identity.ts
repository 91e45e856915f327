import { host, listenPort } from '../platform/env-table/addresses';
import { listOf } from '../platform/env-table/lists';
import { markNotBuiltYet, setting, type Values } from '../platform/env-table/setting';
import { oneOf, oneOfInAnyCase, word } from '../platform/env-table/texts';

const table = {
  host: setting('IDENTITY_HOST', host, {
    default: '0.0.0.0',
    doc: 'address of the identity service',
  }),
  port: setting('IDENTITY_PORT', listenPort, {
    default: '8082',
    doc: 'port of the identity service',
  }),
  corsOrigins: setting('IDENTITY_CORS_ORIGINS', listOf(word, 'an origin'), {
    doc: 'origins whose pages may call the identity service',
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
  rateLimitFailure: setting('IDENTITY_RATELIMIT_FAILURE', oneOf('allow', 'deny'), {
    default: 'allow',
    doc: 'what happens to a call while decisions are unreachable: allow it, or deny it with 503',
  }),
};

export const identityTable = markNotBuiltYet(table, 'warns');

export type IdentitySettings = Values<typeof identityTable>;
