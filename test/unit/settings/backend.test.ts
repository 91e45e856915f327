import { settingsOf, warningsOf } from './results';

const IN_MEMORY =
  'neither KVSTORE_URL nor MEMSTORE_HOST_PORT nor MEMSTORE_SRV is set: counters live in the ' +
  'memory of this process, other instances do not see them and a restart forgets them';

describe('the backend', () => {
  it('is this process when nothing has an address, which is a warning', () => {
    expect(settingsOf({}).backend).toBe('memory');
    expect(warningsOf({})).toEqual([IN_MEMORY]);
  });

  it('is this process without a warning when that was asked for', () => {
    const env = { BACKEND_TYPE: 'memory', REDIS_URL: 'redis:6379' };
    expect(settingsOf(env)).toMatchObject({ backend: 'memory', store: undefined });
    expect(warningsOf(env)).toEqual([]);
  });

  it.each([
    {},
    { BACKEND_TYPE: 'kvstore' },
    { BACKEND_TYPE: 'redis' },
    { MEMSTORE_HOST_PORT: 'm:1' },
  ])('is the key-value store where it has an address (%j)', (env) => {
    expect(settingsOf({ ...env, REDIS_URL: 'redis:6379' }).backend).toBe('kvstore');
  });

  it('is the memory-cache store where only that has an address', () => {
    expect(settingsOf({ MEMCACHE_HOST_PORT: 'm:11211' })).toMatchObject({
      backend: 'memstore',
      memstore: { nodes: { kind: 'list', addresses: [{ host: 'm', port: 11_211 }] } },
    });
    expect(settingsOf({ MEMSTORE_SRV: '_m._tcp.test', MEMSTORE_SRV_REFRESH: '10s' })).toMatchObject(
      {
        backend: 'memstore',
        memstore: { nodes: { kind: 'srv', record: '_m._tcp.test', refreshMs: 10_000 } },
      },
    );
  });
});

describe('the address of the store', () => {
  it.each([
    [{ KVSTORE_URL: 'redis:6379' }, { kind: 'tcp', host: 'redis', port: 6379 }],
    [{ KVSTORE_URL: '[::1]:6379' }, { kind: 'tcp', host: '::1', port: 6379 }],
    [{ KVSTORE_URL: '/run/redis.sock' }, { kind: 'unix', path: '/run/redis.sock' }],
    [{ KVSTORE_URL: './redis.sock' }, { kind: 'unix', path: './redis.sock' }],
    [{ KVSTORE_URL: 'unix:///run/redis.sock' }, { kind: 'unix', path: '/run/redis.sock' }],
    [
      { KVSTORE_URL: 'r.sock', REDIS_SOCKET_TYPE: 'unix' },
      { kind: 'unix', path: 'r.sock' },
    ],
    [{ KVSTORE_URL: 'redis://redis' }, { kind: 'tcp', host: 'redis', port: 6379 }],
    [{ KVSTORE_URL: 'redis://redis:1/0' }, { kind: 'tcp', host: 'redis', port: 1 }],
    [{ KVSTORE_URL: 'redis://[::1]' }, { kind: 'tcp', host: '::1', port: 6379 }],
  ])('is read from %j', (env, address) => {
    expect(settingsOf(env).store?.address).toEqual(address);
  });
});

describe('the store', () => {
  it('holds all that was set', () => {
    const { store } = settingsOf({
      KVSTORE_URL: 'redis:6379',
      KVSTORE_TIMEOUT: '300ms',
      KVSTORE_PIPELINE_WINDOW: '150us',
      KVSTORE_TLS: 'true',
      KVSTORE_TLS_CLIENT_CERT: '/c',
      KVSTORE_TLS_CLIENT_KEY: '/k',
      KVSTORE_TLS_CACERT: '/a',
      KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION: 'true',
      KVSTORE_AUTH: 'weir:hush:hush',
      KVSTORE_SCRIPTS: 'false',
      KVSTORE_STARTUP_INITIAL_INTERVAL: '100ms',
      KVSTORE_STARTUP_MAX_INTERVAL: '2s',
      KVSTORE_STARTUP_MAX_ELAPSED_TIME: '1m',
      KVSTORE_POOL_SIZE: '3',
    });
    expect(store).toEqual({
      address: { kind: 'tcp', host: 'redis', port: 6379 },
      database: 0,
      timeoutMs: 300,
      pipelineWindowMs: 0.15,
      tls: { certFile: '/c', keyFile: '/k', caFile: '/a', skipHostnameVerification: true },
      auth: { username: 'weir', password: 'hush:hush' },
      sentinelAuth: undefined,
      cacheInvalidation: true,
      scripts: false,
      startupInitialMs: 100,
      startupMaxMs: 2_000,
      startupMaxElapsedMs: 60_000,
      pool: { size: 3, onEmpty: 'create', onEmptyWaitMs: 1_000 },
      clusterParallelism: 0,
    });
  });

  it.each([
    ['redis://:p%40ss@redis:1', { username: undefined, password: 'p@ss' }, undefined],
    ['rediss://u:p@redis/', { username: 'u', password: 'p' }, expect.anything()],
    ['redis://redis:1', undefined, undefined],
  ])('takes credentials and TLS from a URL (%s)', (url, auth, tls) => {
    const { store } = settingsOf({ REDIS_URL: url });
    expect(store?.auth).toEqual(auth);
    expect(store?.tls).toEqual(tls);
  });

  it('prefers the credentials of the setting to those of the URL', () => {
    const { store } = settingsOf({ REDIS_URL: 'redis://:old@redis:1', REDIS_AUTH: 'new' });
    expect(store?.auth).toEqual({ username: undefined, password: 'new' });
  });

  it.each([
    ['single', 'redis://redis:1/11', 11],
    ['single', 'redis://:p@redis?db=11', 11],
    ['single', 'rediss://redis:1/?db=11', 11],
    ['single', 'redis://redis:1/11?db=11', 11],
    ['single', 'redis://redis:1/0', 0],
    ['single', 'redis:1', 0],
    ['sentinel', 'mymaster/11,s:1', 11],
    ['sentinel', 'mymaster?db=11,s:1,s:2', 11],
    ['sentinel', 'mymaster,s:1', 0],
  ])('takes the database from the URL (%s: %s)', (type, url, database) => {
    const env = { REDIS_TYPE: type, REDIS_URL: url };
    expect(settingsOf(env).store?.database).toBe(database);
    const second = { REDIS_PERSECOND_TYPE: type, REDIS_PERSECOND_URL: url };
    const { perSecondStore } = settingsOf({ REDIS_URL: 'a:1', REDIS_PERSECOND: 'true', ...second });
    expect(perSecondStore?.database).toBe(database);
  });

  it('takes a file in place of credentials, of its own for each store and for sentinels', () => {
    const { store, perSecondStore } = settingsOf({
      REDIS_URL: 'redis://:old@redis:1',
      REDIS_AUTH_FILE: '/run/a',
      REDIS_SENTINEL_AUTH_FILE: '/run/s',
      REDIS_PERSECOND: 'true',
      REDIS_PERSECOND_URL: 'b:2',
      REDIS_PERSECOND_AUTH_FILE: '/run/b',
      REDIS_PERSECOND_SENTINEL_AUTH_FILE: '/run/t',
    });
    expect([store?.auth, store?.sentinelAuth]).toEqual([{ file: '/run/a' }, { file: '/run/s' }]);
    expect([perSecondStore?.auth, perSecondStore?.sentinelAuth]).toEqual([
      { file: '/run/b' },
      { file: '/run/t' },
    ]);
  });

  it('names the files that connections need as they were written, of what is in use', () => {
    const env = {
      REDIS_URL: 'a:1',
      REDIS_AUTH_FILE: '/run/p',
      REDIS_TLS_CACERT: '/ca',
      REDIS_PERSECOND_AUTH_FILE: '/run/unused',
      CONFIG_GRPC_XDS_SERVER_TLS_CACERT: '/unused',
    };
    const password = { setting: 'REDIS_AUTH_FILE="/run/p"', file: '/run/p', holds: 'credentials' };
    const authority = { setting: 'REDIS_TLS_CACERT="/ca"', file: '/ca', holds: 'pem' };
    expect(settingsOf(env).clientFiles).toEqual({ stores: [password], rules: [] });
    expect(settingsOf({ ...env, REDIS_TLS: 'true' }).clientFiles.stores).toEqual([
      authority,
      password,
    ]);
  });
});

describe('the store for limits per second', () => {
  it('is not there unless it is switched on', () => {
    expect(settingsOf({ KVSTORE_URL: 'a:1', KVSTORE_PERSECOND_URL: 'b:2' }).perSecondStore).toBe(
      undefined,
    );
  });
});
