import { problemsOf, settingsOf } from './results';

const JWT = { IDENTITY_JWT_ISSUER: 'https://login.test', IDENTITY_JWT_AUDIENCE: 'api' };
const URL = { IDENTITY_JWT_JWKS_URL: 'https://login.test/jwks' };
const FILE = { IDENTITY_JWT_JWKS_FILE: '/etc/jwks.json' };

it('takes no JWT unless somebody asks for it', () => {
  expect(settingsOf({}).identity.jwt).toBeUndefined();
});

it.each([
  [URL, { kind: 'url', url: 'https://login.test/jwks' }],
  [FILE, { kind: 'file', file: '/etc/jwks.json' }],
])('takes JWTs with the keys of %j', (source, keys) => {
  const { jwt } = settingsOf({ ...JWT, ...source }).identity;
  expect(jwt).toEqual({ issuer: 'https://login.test', audience: 'api', keys });
});

it('takes no address of keys that holds a password', () => {
  const env = { ...JWT, IDENTITY_JWT_JWKS_URL: 'https://user:hunter2@login.test/jwks' };
  expect(problemsOf(env).join()).toMatch(/IDENTITY_JWT_JWKS_URL/);
  expect(problemsOf(env).join()).not.toContain('hunter2');
});

it.each([
  [{ IDENTITY_STORE: 'redis' }, 'IDENTITY_STORE="redis": expected KVSTORE_URL to be set'],
  [
    { IDENTITY_STORE: 'kvstore', BACKEND_TYPE: 'memory', REDIS_TIMEOUT: '1s' },
    'IDENTITY_STORE="kvstore": expected REDIS_URL to be set and BACKEND_TYPE="memory" to be kvstore',
  ],
  [
    { IDENTITY_STORE: 'kvstore', BACKEND_TYPE: 'memory', REDIS_URL: 'a:1' },
    'IDENTITY_STORE="kvstore": expected BACKEND_TYPE="memory" to be kvstore',
  ],
])('names what users in Redis lack as the operator wrote it: %j', (env, problem) => {
  expect(settingsOf(env).identity.storeProblem).toBe(problem);
});

it.each([{}, { BACKEND_TYPE: 'memory' }, { IDENTITY_STORE: 'redis', REDIS_URL: 'a:1' }])(
  'lacks nothing for the users with %j',
  (env) => {
    expect(settingsOf(env).identity.storeProblem).toBeUndefined();
  },
);
