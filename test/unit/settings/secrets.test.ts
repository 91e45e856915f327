import { readSettings } from '../../../src/settings/settings';

const SECRET = 'hush-hush-1234';

describe('a secret', () => {
  it.each([
    { KVSTORE_AUTH: `${SECRET}:` },
    { KVSTORE_AUTH: `${SECRET}\n` },
    { KVSTORE_AUTH: SECRET, REDIS_AUTH: `other${SECRET}` },
    { KVSTORE_PERSECOND_AUTH: `${SECRET}:` },
    { KVSTORE_PERSECOND_AUTH: SECRET },
    { KVSTORE_SENTINEL_AUTH: SECRET },
    { REDIS_SENTINEL_AUTH: `${SECRET}:` },
    { CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: `authorization:${SECRET}` },
    { CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: SECRET },
    { REDIS_URL: `redis://:${SECRET}@redis` },
    { REDIS_URL: `redis://:${SECRET}@redis/7` },
    { REDIS_URL: `:${SECRET}@redis:1`, KVSTORE_URL: 'a:1' },
    { KVSTORE_URL: `:${SECRET}@a:1`, KVSTORE_TYPE: 'cluster' },
    { KVSTORE_URL: `:${SECRET}@a:1`, KVSTORE_TYPE: 'sentinel' },
  ])('reaches no message (%j)', (env) => {
    const result = readSettings(env);
    const messages = result.ok ? result.warnings : result.problems;
    expect(messages.join('\n')).not.toContain(SECRET);
  });

  it('may stand in front of a setting that needs it', () => {
    const result = readSettings({ KVSTORE_URL: 'a:1', KVSTORE_AUTH: SECRET });
    expect(result).toMatchObject({ ok: true, warnings: [] });
  });
});
