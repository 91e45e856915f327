import { problemsOf, settingsOf, warningsOf } from './results';

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

  it('needs an address', () => {
    expect(problemsOf({ BACKEND_TYPE: 'redis' })).toEqual([
      'BACKEND_TYPE="redis": expected KVSTORE_URL to be set',
    ]);
    expect(problemsOf({ BACKEND_TYPE: 'memcache' })).toEqual([
      'BACKEND_TYPE="memcache": expected MEMSTORE_HOST_PORT or MEMSTORE_SRV to be set',
    ]);
  });

  it('takes its nodes from one place', () => {
    expect(problemsOf({ MEMSTORE_HOST_PORT: 'm:1', MEMCACHE_SRV: 's', REDIS_URL: 'r:1' })).toEqual([
      'MEMSTORE_HOST_PORT="m:1" and MEMCACHE_SRV="s": expected only one of them',
    ]);
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

  it.each([
    [
      { KVSTORE_URL: 'redis' },
      'KVSTORE_URL="redis": expected <host>:<port> or the path of a unix socket',
    ],
    [
      { KVSTORE_URL: '/run/r.sock', KVSTORE_SOCKET_TYPE: 'tcp' },
      'KVSTORE_URL="/run/r.sock": expected <host>:<port>',
    ],
    [
      { KVSTORE_URL: 'unix://', KVSTORE_SOCKET_TYPE: 'unix' },
      'KVSTORE_URL="unix://": expected the path of a unix socket',
    ],
    [
      { REDIS_URL: 'redis://:hush@redis:6379/three' },
      'REDIS_URL (value not shown): expected <host>:<port> or the path of a unix socket',
    ],
  ])('is refused in %j', (env, problem) => {
    expect(problemsOf(env)).toEqual([problem]);
  });

  it.each([
    ['sentinel', 'mymaster', '<master name>,<host>:<port> with one sentinel or more'],
    ['sentinel', ',s:1', '<master name>,<host>:<port> with one sentinel or more'],
    ['sentinel', 'mymaster,s', '<master name>,<host>:<port> with one sentinel or more'],
    ['cluster', 'a:1,b', '<host>:<port>,<host>:<port> of the nodes'],
    ['cluster', 'a:1,', '<host>:<port>,<host>:<port> of the nodes'],
  ])('of a %s is not %s', (type, url, expected) => {
    const env = { KVSTORE_TYPE: type, KVSTORE_URL: url, KVSTORE_PIPELINE_WINDOW: '150us' };
    expect(problemsOf(env)).toEqual([`KVSTORE_URL="${url}": expected ${expected}`]);
  });

  it.each([
    ['sentinel', 'mymaster,s1:1,s2:2'],
    ['cluster', 'a:1,b:2'],
  ])('of a %s is not a unix socket', (type, url) => {
    const env = { KVSTORE_TYPE: type, KVSTORE_URL: url, KVSTORE_PIPELINE_WINDOW: '150us' };
    expect(problemsOf(env)).toEqual([]);
    expect(problemsOf({ ...env, KVSTORE_SOCKET_TYPE: 'unix' })).toContain(
      `KVSTORE_SOCKET_TYPE="unix": expected tcp when KVSTORE_TYPE="${type}"`,
    );
  });

  it('of a cluster comes with a pipeline window', () => {
    expect(problemsOf({ KVSTORE_TYPE: 'cluster', KVSTORE_URL: 'a:1' })).toContain(
      'KVSTORE_TYPE="cluster": expected KVSTORE_PIPELINE_WINDOW to be above 0, for example 150us',
    );
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
      startup: { initialIntervalMs: 100, maxIntervalMs: 2_000, maxElapsedMs: 60_000 },
      pool: { size: 3, onEmpty: 'create', onEmptyWaitMs: 1_000 },
      clusterPipelineParallelism: 0,
    });
  });

  it('wants certificate and key together, but only with TLS', () => {
    const env = { KVSTORE_URL: 'a:1', REDIS_TLS_CLIENT_CERT: '/c' };
    expect(problemsOf(env)).toEqual([]);
    expect(problemsOf({ ...env, REDIS_TLS: '1' })).toEqual([
      'REDIS_TLS_CLIENT_CERT="/c": expected REDIS_TLS_CLIENT_KEY to be set too',
    ]);
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

  it.each(['a:1,b:2/11', 'redis://a:1/11', 'a:1,b:2?db=11'])(
    'refuses a database of a cluster, which has none (%s)',
    (url) => {
      const env = { REDIS_TYPE: 'cluster', REDIS_URL: url, REDIS_PIPELINE_WINDOW: '150us' };
      expect(problemsOf(env)).toEqual([
        `REDIS_URL=${JSON.stringify(url)}: expected no database: a cluster has database 0 only`,
      ]);
    },
  );

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

  it.each(['AUTH', 'SENTINEL_AUTH', 'PERSECOND_AUTH', 'PERSECOND_SENTINEL_AUTH'])(
    'takes %s or its file, not both',
    (name) => {
      const env = { REDIS_URL: 'a:1', [`REDIS_${name}`]: 'p', [`REDIS_${name}_FILE`]: '/run/p' };
      expect(problemsOf(env)).toEqual([
        `REDIS_${name}_FILE="/run/p": expected REDIS_${name} (value not shown) not to be set too`,
      ]);
    },
  );

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

  it.each([
    'redis://a:1/b',
    'redis://a:1/1?db=2',
    'redis://a:1?database=2',
    'redis://a:1/-1',
    'redis://p@redis:1',
    'redis://u:@redis:1',
    'redis://:%zz@redis:1',
    'redis://',
    'redis://a:0',
  ])('refuses the URL %s', (url) => {
    expect(problemsOf({ REDIS_URL: url })).toHaveLength(1);
  });
});

describe('the store for limits per second', () => {
  const env = { KVSTORE_URL: 'a:1', KVSTORE_PERSECOND: 'true' };

  it('needs an address', () => {
    expect(problemsOf(env)).toEqual([
      'KVSTORE_PERSECOND="true": expected KVSTORE_PERSECOND_URL to be set',
    ]);
    expect(problemsOf({ KVSTORE_PERSECOND: 'true', KVSTORE_PERSECOND_URL: 'b:2' })).toEqual([
      'KVSTORE_PERSECOND="true": expected KVSTORE_URL to be set',
    ]);
  });

  it('is checked like the first', () => {
    expect(
      problemsOf({ ...env, REDIS_PERSECOND_URL: 'b', REDIS_PERSECOND_TYPE: 'cluster' }),
    ).toEqual([
      'REDIS_PERSECOND_URL="b": expected <host>:<port>,<host>:<port> of the nodes',
      'REDIS_PERSECOND_TYPE="cluster": expected REDIS_PERSECOND_PIPELINE_WINDOW to be above 0, for example 150us',
    ]);
  });

  it('is not there unless it is switched on', () => {
    expect(settingsOf({ KVSTORE_URL: 'a:1', KVSTORE_PERSECOND_URL: 'b:2' }).perSecondStore).toBe(
      undefined,
    );
  });

  it('does not matter to another backend', () => {
    expect(problemsOf({ BACKEND_TYPE: 'memory', KVSTORE_PERSECOND: 'true' })).toEqual([]);
  });
});
